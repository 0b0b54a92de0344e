import { deepEqual } from "node:assert/strict";
import { describe, test } from "node:test";
import { chooseControllers } from "./enabled-controllers.ts";
import { defineController, onChange } from "./controller.ts";

function controller(name: string, more: { readonly aliases?: readonly string[]; readonly onlyIfNamed?: true } = {}) {
  return defineController({ name, account: name, rules: [], watches: [], reconcile: () => Promise.resolve(onChange), ...more });
}

const ALL = [
  controller("deployment-controller", { aliases: ["deployment"] }),
  controller("namespace-controller", { aliases: ["namespace", "ns"] }),
  controller("token-cleaner-controller", { onlyIfNamed: true }),
];
const [DEPLOYMENT, NAMESPACE, CLEANER] = ["deployment-controller", "namespace-controller", "token-cleaner-controller"];
const KNOWN = `known controllers: ${DEPLOYMENT}, ${NAMESPACE}, ${CLEANER}`;

describe("--controllers selects the controllers that run", () => {
  for (const [wanted, chosen, mistakes = []] of [
    ["*", [DEPLOYMENT, NAMESPACE]],
    ["", []],
    ["namespace-controller", [NAMESPACE]],
    ["ns", [NAMESPACE]],
    ["*,-deployment-controller", [NAMESPACE]],
    ["*,-deployment", [NAMESPACE]],
    ["-deployment,*", [NAMESPACE]],
    ["*,token-cleaner-controller", [DEPLOYMENT, NAMESPACE, CLEANER]],
    ["-token-cleaner-controller", []],
    ["deployment,-deployment", [DEPLOYMENT]],
    ["-deployment,deployment,*", [NAMESPACE]],
    ["*,frob", [DEPLOYMENT, NAMESPACE], [`"frob" is not in the list of ${KNOWN}`]],
    ["-*,--ns,ns", [NAMESPACE], [`"-*" is not in the list of ${KNOWN}`, `"--ns" is not in the list of ${KNOWN}`]],
  ] as const) {
    test(`by "${wanted}"`, () => {
      const found = chooseControllers(ALL, wanted === "" ? [] : wanted.split(","));
      deepEqual([found.chosen.map(({ name }) => name), found.mistakes], [chosen, mistakes]);
    });
  }
});
