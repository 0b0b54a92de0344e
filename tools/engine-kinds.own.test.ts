import { deepEqual } from "node:assert/strict";
import { describe, test } from "node:test";
import { all } from "../src/api/all.ts";
import { packageDirectory } from "../src/testing/package-directory.ts";
import { engineKindViolations } from "./engine-kinds.ts";
import { readSources } from "./source/read-sources.ts";
import { parseSource } from "./source/source.ts";

test("no file of the API server's engine names a kind", () => {
  deepEqual(engineKindViolations(readSources(packageDirectory(import.meta.dirname), "src"), all), []);
});

describe("a string that is a kind or a plural is reported in the engine only", () => {
  const says = (path: string, name: string) => `${path}:2: names ${name}; the engine knows no kind, its definition or extension does`;
  const REST = "src/apiserver/rest/a.ts";
  for (const { title, path, text, violations } of [
    { title: "a plural", path: REST, text: `const isPod = plural === "pods";`, violations: [says(REST, "pods")] },
    { title: "a kind", path: REST, text: `const OF = { kind: "Pod" };`, violations: [says(REST, "Pod")] },
    { title: "a kind in a type", path: REST, text: `type Of = "Pod";`, violations: [says(REST, "Pod")] },
    { title: "a plural in a template", path: REST, text: "const OF = `pods`;", violations: [says(REST, "pods")] },
    { title: "a plural in a path", path: REST, text: `const AT = "/api/v1/pods";`, violations: [says(REST, "pods")] },
    { title: "a plural before a parameter of a path", path: REST, text: "const AT = `/pods/${name}`;", violations: [says(REST, "pods")] },
    {
      title: "an import of a kind",
      path: REST,
      text: `import { pods } from "../../api/core/v1/pod.ts";`,
      violations: [says(REST, "src/api/core/v1/pod.ts")],
    },
    { title: "an import of the machinery", path: REST, text: `import type { A } from "../../api/machinery/object.ts";`, violations: [] },
    { title: "another string", path: REST, text: `const OF = "podsAndMore";`, violations: [] },
    { title: "a comment", path: REST, text: `// "pods"`, violations: [] },
    { title: "a test", path: "src/apiserver/rest/a.test.ts", text: `const OF = "pods";`, violations: [] },
    { title: "a plugin", path: "src/apiserver/admission/a.ts", text: `const OF = "pods";`, violations: [] },
  ]) {
    test(title, () => deepEqual(engineKindViolations([parseSource(path, `\n${text}`)], [{ kind: "Pod", plural: "pods" }]), violations));
  }
});
