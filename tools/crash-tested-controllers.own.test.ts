import { deepEqual, ok } from "node:assert/strict";
import { describe, test } from "node:test";
import { packageDirectory } from "../src/testing/package-directory.ts";
import { readSources } from "./source/read-sources.ts";
import { parseSource } from "./source/source.ts";
import { controllersWithoutCrashTest } from "./crash-tested-controllers.ts";

test("every controller has a test that interrupts it after each of its calls", () => {
  const sources = readSources(packageDirectory(import.meta.dirname), "src/controllers");

  deepEqual(controllersWithoutCrashTest(sources), []);
  ok(controllersWithoutCrashTest(sources.filter(({ path }) => !path.endsWith(".test.ts"))).length > 20);
});

const IMPORTS = `import { webController } from "./web-controller.ts"; import { other } from "./other.ts";`;

describe("a controller counts as tested", () => {
  for (const [is, it, text] of [
    [true, "by a scenario at the call", `everyStepMayBeTheLast({ controllers: () => [webController] }, {});`],
    [true, "by a scenario in a variable", `const scenario = { controllers: () => [webController] }; everyStepMayBeTheLast(scenario, {});`],
    [
      true,
      "by a function that returns scenarios, of a configured controller",
      `const made = webController({}); function of(x) { return { controllers: () => [made, other] }; } everyStepMayBeTheLast(of(1), {});`,
    ],
    [false, "not by a comment", `// everyStepMayBeTheLast({ controllers: () => [webController] }, {});`],
    [false, "not by a string", "const text = `everyStepMayBeTheLast({ controllers: () => [webController] }, {})`;"],
    [false, "not if the scenario has another one", `use(webController); everyStepMayBeTheLast({ controllers: () => [other] }, {});`],
    [
      false,
      "not if it is only mentioned in the scenario",
      `everyStepMayBeTheLast({ objects: [webController], controllers: () => [] }, {});`,
    ],
    [false, "not by a scenario that no test runs", `const scenario = { controllers: () => [webController] }; use(scenario);`],
  ] as const) {
    test(it, () => {
      const sources = [
        parseSource("src/controllers/web/web-controller.ts", ""),
        parseSource("src/controllers/web/web.test.ts", `${IMPORTS}\n${text}`),
      ];
      deepEqual(controllersWithoutCrashTest(sources), is ? [] : ["web"]);
    });
  }
});
