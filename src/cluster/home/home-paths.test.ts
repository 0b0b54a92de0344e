import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { chooseHome, homeArguments } from "./home-flags.ts";
import { contextName, isOwnEntry, nameExpected } from "./home-paths.ts";

for (const [name, isGood] of [
  ["default", true],
  ["a-1", true],
  ["a".repeat(32), true],
  ["a".repeat(33), false],
  ["-a", false],
  ["A", false],
  ["../x", false],
] as const) {
  test(`"${name}" is ${isGood ? "a valid" : "an invalid"} cluster name`, () => equal(nameExpected(name) === undefined, isGood));
}

for (const [title, values, environment, expected] of [
  ["the default is below the user's data", {}, { HOME: "/home/a" }, "/home/a/.local/share/k8ts/default"],
  ["each name has its own", { name: "second" }, { HOME: "/home/a", XDG_DATA_HOME: "/data" }, "/data/k8ts/second"],
  ["a directory may be given", { name: "second", "data-dir": "/x/y" }, {}, "/x/y"],
  ["a relative XDG_DATA_HOME is ignored", {}, { HOME: "/home/a", XDG_DATA_HOME: "data" }, "/home/a/.local/share/k8ts/default"],
] as const) {
  test(title, () => {
    const chosen = chooseHome({ name: undefined, "data-dir": undefined, ...values }, environment);
    equal(chosen.ok && chosen.options.directory, expected);
  });
}

test("without a default location a directory must be given", () => {
  const chosen = chooseHome({ name: undefined, "data-dir": undefined }, {});
  deepEqual(chosen, { ok: false, problems: ["--data-dir is required: neither XDG_DATA_HOME nor HOME is set"] });
});

test("contexts and command lines name the cluster unless it is the default one", () => {
  deepEqual(["default", "second"].map(contextName), ["k8ts", "k8ts-second"]);
  const at = (name: string, isNamedPlace: boolean) => homeArguments({ name, directory: "/d", isNamedPlace });
  deepEqual([at("default", true), at("second", true), at("default", false)], ["", " --name second", " --data-dir /d"]);
});

test("files of k8ts in a home are distinguished from others", () => {
  deepEqual(
    ["store.mdb", "store.mdb-lock", "causes.jsonl", "causes.jsonl.1", "pki", "run", "k8ts.json.12.partial", "photos", "store.txt"].filter(
      isOwnEntry,
    ),
    ["store.mdb", "store.mdb-lock", "causes.jsonl", "causes.jsonl.1", "pki", "run", "k8ts.json.12.partial"],
  );
});
