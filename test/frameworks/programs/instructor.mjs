/** Instructor over the OpenAI client, as its own pages use it: what it gives is always structured. */
import Instructor from "@instructor-ai/instructor";
import OpenAI from "openai";
import { z } from "zod/v3";

const { MODEL: model } = process.env;
const oai = new OpenAI();
const messages = [{ role: "user", content: "How is the weather in Oslo?" }];
const schema = z.object({ city: z.string(), degrees: z.number() });

const client = Instructor({ client: oai, mode: "TOOLS" });
const response_model = { schema, name: "Weather" };
const { city, degrees } = await client.chat.completions.create({ messages, model, response_model });
let last;
for await (const partial of await client.chat.completions.create({ messages, model, response_model, stream: true }))
  last = partial;
console.log(JSON.stringify({ structured: { city, degrees }, partial: { city: last.city, degrees: last.degrees } }));
