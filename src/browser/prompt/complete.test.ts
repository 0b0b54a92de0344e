import { deepEqual, throws } from "node:assert/strict";
import { describe, test } from "node:test";
import { all } from "./commands/all.ts";
import { complete } from "./complete.ts";
import { findCommand } from "./find-command.ts";
import { UsageError } from "./flags.ts";

const kind = (plural: string, name: string, shortNames: readonly string[]) => ({
  ...{ group: "", version: "v1", kind: name, plural, isNamespaced: true, verbs: ["get"], shortNames, subresources: [] },
});
const SOURCE = {
  commands: all,
  kinds: [kind("pods", "Pod", ["po"]), kind("nodes", "Node", ["no"])],
  files: ["web.yaml", "db.yaml"],
  namesOf: (of: { readonly plural: string }) => Promise.resolve(of.plural === "pods" ? ["web-1", "web-2", "db"] : ["node-0"]),
};

describe("Tab completes what is unambiguous and lists what is not", () => {
  const rows = [
    { line: "kube", gives: { line: "kubectl ", choices: [] } },
    { line: "kubectl rollout st", gives: { line: "kubectl rollout status ", choices: [] } },
    { line: "kubectl get pods w", gives: { line: "kubectl get pods web-", choices: ["web-1", "web-2"] } },
    { line: "get pod/d", gives: { line: "get pod/db ", choices: [] } },
    { line: "k8ts node st", gives: { line: "k8ts node st", choices: ["start", "stop"] } },
    { line: "kubectl apply -f w", gives: { line: "kubectl apply -f web.yaml ", choices: [] } },
    { line: "kubectl get nothing-so", gives: { line: "kubectl get nothing-so", choices: [] } },
  ];
  for (const { line, gives } of rows) test(line, async () => deepEqual(await complete(line, SOURCE), gives));
});

describe("a command is found with and without its program", () => {
  const rows = [
    { typed: "kubectl get pods", name: ["get"], words: ["pods"] },
    { typed: "k get pods", name: ["get"], words: ["pods"] },
    { typed: "rollout undo deploy/web", name: ["rollout", "undo"], words: ["deploy/web"] },
    { typed: "k8ts why pod/web", name: ["why"], words: ["pod/web"] },
    { typed: "why pod/web", name: ["why"], words: ["pod/web"] },
    { typed: "cat a b", name: [], words: ["a", "b"] },
  ];
  for (const { typed, name, words } of rows)
    test(typed, () => {
      const found = findCommand(all, typed.split(" "));
      deepEqual({ name: found.command.name, words: found.words }, { name, words });
    });
  test("an unknown one is refused", () => {
    throws(() => findCommand(all, ["frobnicate"]), new UsageError('unknown command "frobnicate": enter "help" for a list'));
    throws(() => findCommand(all, ["kubectl", "frobnicate"]), new UsageError('unknown command "frobnicate" for "kubectl"'));
  });
});
