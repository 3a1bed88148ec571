/** Starts the console in its page. */
import "./tokens.css";
import "./base.css";
import { QueryClientProvider as Answers } from "@tanstack/react-query";
import { RouterProvider as Pages } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { cache } from "./api/queries.ts";
import { router } from "./router.tsx";
import { applyTheme, chosenTheme } from "./shell/theme.ts";

applyTheme(chosenTheme());

const root = document.getElementById("root");
if (root === null) throw new Error("the page has no root");
createRoot(root).render(
  <StrictMode>
    <Answers client={cache}>
      <Pages router={router} />
    </Answers>
  </StrictMode>,
);
