/** What this program says a person types is what starts it from where the person stands. */
import { expect, test } from "vitest";
import { runnable, startCommand } from "../../src/base/package-root.js";

const PATH = "/usr/local/bin:/usr/bin";

test.each([
  { name: "a clone", file: "/home/ada/tollgate/dist/program/main.js", want: "node dist/program/main.js" },
  {
    name: "a script of npm in a clone",
    file: "/home/ada/tollgate/dist/program/main.js",
    path: "/home/ada/tollgate/node_modules/.bin:/usr/bin",
    want: "node dist/program/main.js",
  },
  {
    name: "a clone, from another folder",
    file: "/opt/tollgate/dist/program/main.js",
    want: "node /opt/tollgate/dist/program/main.js",
  },
  { name: "an installed command", file: "/usr/local/bin/tollgate", want: "tollgate" },
  { name: "a command that is in no path", file: "/opt/bin/tollgate", want: "node /opt/bin/tollgate" },
  { name: "a package of this folder", file: "/home/ada/tollgate/node_modules/.bin/tollgate", want: "npx tollgate" },
  {
    name: "a package of another folder",
    file: "/srv/app/node_modules/.bin/tollgate",
    path: "/srv/app/node_modules/.bin",
    want: "node /srv/app/node_modules/.bin/tollgate",
  },
  { name: "a folder with a space", file: "/opt/my gateway/main.js", want: 'node "/opt/my gateway/main.js"' },
])("started from $name it is $want", ({ file, path = PATH, want }) => {
  expect(startCommand({ file, directory: "/home/ada/tollgate", env: { PATH: path } })).toBe(want);
});

test("commands in a text begin as the program was started; its name and its files stay", () => {
  const text =
    "tollgate: run, once: tollgate serve --accept-loss ('tollgate key list'), see tollgate.yaml in /etc/tollgate x";
  expect(runnable(text, "node main.js")).toBe(
    "tollgate: run, once: node main.js serve --accept-loss ('node main.js key list'), see tollgate.yaml in /etc/tollgate x",
  );
});
