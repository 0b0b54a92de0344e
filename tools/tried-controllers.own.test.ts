import { deepEqual, ok } from "node:assert/strict";
import { describe, test } from "node:test";
import { packageDirectory } from "../src/testing/package-directory.ts";
import { readSources } from "./source/read-sources.ts";
import { parseSource } from "./source/source.ts";
import { untriedControllers } from "./tried-controllers.ts";

test("every controller is tried by cutting it after each of its calls", () => {
  const sources = readSources(packageDirectory(import.meta.dirname), "src/controllers");

  deepEqual(untriedControllers(sources), []);
  ok(untriedControllers(sources.filter(({ path }) => !path.endsWith(".test.ts"))).length > 20);
});

const IMPORTS = `import { webController } from "./web-controller.ts"; import { other } from "./other.ts";`;

describe("a controller counts as tried", () => {
  for (const [is, it, text] of [
    [true, "if a scenario is written where the tool is called", `everyStepMayBeTheLast({ controllers: () => [webController] }, {});`],
    [true, "if a scenario has a name", `const scenario = { controllers: () => [webController] }; everyStepMayBeTheLast(scenario, {});`],
    [
      true,
      "if a function makes scenarios, of a controller with settings",
      `const made = webController({}); function of(x) { return { controllers: () => [made, other] }; } everyStepMayBeTheLast(of(1), {});`,
    ],
    [false, "not by a comment", `// everyStepMayBeTheLast({ controllers: () => [webController] }, {});`],
    [false, "not by a text", "const text = `everyStepMayBeTheLast({ controllers: () => [webController] }, {})`;"],
    [false, "not if another one is played", `use(webController); everyStepMayBeTheLast({ controllers: () => [other] }, {});`],
    [
      false,
      "not if it is only mentioned in the scenario",
      `everyStepMayBeTheLast({ objects: [webController], controllers: () => [] }, {});`,
    ],
    [false, "not by a scenario that nobody plays", `const scenario = { controllers: () => [webController] }; use(scenario);`],
  ] as const) {
    test(it, () => {
      const sources = [
        parseSource("src/controllers/web/web-controller.ts", ""),
        parseSource("src/controllers/web/web.test.ts", `${IMPORTS}\n${text}`),
      ];
      deepEqual(untriedControllers(sources), is ? [] : ["web"]);
    });
  }
});
