import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { languages } from "./languages.ts";
import type { Surroundings } from "./surroundings.ts";

/** A machine with these programs, each with what it prints for its version; undefined: it does not start. */
function machine(programs: Readonly<Record<string, string | undefined>>): Surroundings {
  const surroundings: Pick<Surroundings, "which" | "run"> = {
    which: (command) => (command in programs ? `/usr/bin/${command}` : undefined),
    run: async (path) => {
      const output = programs[path.slice("/usr/bin/".length)];
      return output === undefined ? { exitCode: 127, output: "not a program" } : { exitCode: 0, output };
    },
  };
  return surroundings as Surroundings;
}

test("languages that are new enough are found", async () => {
  const programs = { go: "go version go1.26.8 linux/amd64", python3: "Python 3.11.7", javac: "javac 17.0.15" };

  deepEqual(await languages(machine(programs)), {
    go: { path: "/usr/bin/go" },
    python3: { path: "/usr/bin/python3" },
    java: { path: "/usr/bin/javac" },
  });
});

test("a language that is missing, too old or broken has a reason", async () => {
  deepEqual(await languages(machine({ python3: "Python 2.7.18", javac: undefined })), {
    go: { missing: "go is not on the PATH" },
    python3: { missing: "python3 2.7 is too old; 3.8 is needed" },
    java: { missing: "javac does not start: not a program" },
  });
});
