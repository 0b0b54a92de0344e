import assert from "node:assert/strict";
import test from "node:test";
import type { Pod } from "../../api/generated/core/v1.ts";
import type { KubeObject } from "../../api/machinery/object.ts";
import { StatusError } from "../../api/machinery/status-error.ts";
import type { Client } from "../../client/client.ts";
import type { DiscoveredKind } from "../../client/discovery.ts";
import { emptyKind, podsTakeSeconds, problemOf, remainderOf } from "./namespace-content.ts";
import { stub } from "../../base/testing/stub.ts";

const NOT_ALLOWED = new StatusError("MethodNotAllowed", "the server does not allow this method on the requested resource");

function aKind(...verbs: readonly string[]): DiscoveredKind {
  const storage = { group: "example.com", version: "v1" };
  return { kind: "Widget", plural: "widgets", singular: "", shortNames: [], categories: [], scope: "Namespaced", storage, verbs };
}

function aWidget(name: string, ...finalizers: readonly string[]): KubeObject {
  return { apiVersion: "example.com/v1", kind: "Widget", metadata: { name, namespace: "space", finalizers } };
}

/** A server with these objects. */
function holding(
  names: readonly string[],
  { refuses = [] as readonly string[] } = {},
): { readonly write: Client; readonly asked: string[] } {
  const asked: string[] = [];
  let left = names;
  const ask = async (line: string): Promise<void> => {
    asked.push(line);
    if (refuses.some((verb) => line.startsWith(verb))) throw NOT_ALLOWED;
  };
  const write = {
    async list(_kind: unknown, { limit }: { readonly limit?: number }) {
      await ask(limit === undefined ? "list" : `list ${limit}`);
      return { items: left.slice(0, limit).map((name) => aWidget(name)) };
    },
    async deleteCollection() {
      await ask("deletecollection");
      left = [];
    },
    async delete(_kind: unknown, { name }: { readonly name: string }) {
      await ask(`delete ${name}`);
      left = left.filter((other) => other !== name);
    },
  };
  return { write: stub<Client>(write), asked };
}

for (const { it, server, verbs, asked } of [
  { it: "has no objects is only listed", server: holding([]), verbs: ["list", "delete", "deletecollection"], asked: ["list 1"] },
  {
    it: "has objects is deleted by deletecollection",
    server: holding(["a", "b"]),
    verbs: ["list", "delete", "deletecollection"],
    asked: ["list 1", "deletecollection", "list"],
  },
  {
    it: "has no deletecollection is deleted one by one",
    server: holding(["a", "b"]),
    verbs: ["list", "delete"],
    asked: ["list 1", "list", "delete a", "delete b", "list"],
  },
  {
    it: "rejects its advertised deletecollection is deleted one by one",
    server: holding(["a"], { refuses: ["deletecollection"] }),
    verbs: ["list", "delete", "deletecollection"],
    asked: ["list 1", "deletecollection", "list", "delete a", "list"],
  },
  {
    it: "cannot be listed is deleted by deletecollection",
    server: holding(["a"]),
    verbs: ["delete", "deletecollection"],
    asked: ["deletecollection"],
  },
]) {
  test(`a kind that ${it}`, async () => {
    const { count } = await emptyKind({ kind: aKind(...verbs), namespace: "space", terminatingForMs: 0, write: server.write });

    assert.equal(count, 0);
    assert.deepEqual(server.asked, asked);
  });
}

for (const { it, left, graceSeconds, estimateSeconds, isProblem } of [
  { it: "nothing", left: [], graceSeconds: 30, estimateSeconds: 0, isProblem: false },
  { it: "what has time to end", left: [aWidget("a", "x")], graceSeconds: 30, estimateSeconds: 30, isProblem: false },
  { it: "an object with a finalizer", left: [aWidget("a"), aWidget("b", "x")], graceSeconds: 0, estimateSeconds: 15, isProblem: false },
  { it: "an object without finalizers", left: [aWidget("a")], graceSeconds: 0, estimateSeconds: 0, isProblem: true },
]) {
  test(`if ${it} remains of a kind the estimate is ${estimateSeconds} s${isProblem ? ", which is a problem" : ""}`, () => {
    const remainder = remainderOf(aKind(), left, graceSeconds);

    assert.deepEqual([remainder.count, remainder.estimateSeconds], [left.length, estimateSeconds]);
    const problem = "unexpected items still remain in namespace: space for gvr: example.com/v1, Resource=widgets";
    assert.equal(problemOf(remainder, "space"), isProblem ? problem : undefined);
  });
}

test("the estimate for Pods is the longest grace period, unless it has expired", () => {
  const aPod = (terminationGracePeriodSeconds: number, phase: string): Pod =>
    ({ ...aWidget("p"), spec: { containers: [], terminationGracePeriodSeconds }, status: { phase } }) as Pod;

  assert.equal(podsTakeSeconds([]), 0);
  assert.equal(podsTakeSeconds([aPod(5, "Running"), aPod(7, "Pending"), aPod(60, "Succeeded"), aPod(60, "Failed")]), 7);
});
