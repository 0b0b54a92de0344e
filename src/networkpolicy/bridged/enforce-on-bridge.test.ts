import { deepEqual, equal, rejects } from "node:assert/strict";
import { test } from "node:test";
import type { Enforcer } from "../enforcers/enforcer.ts";
import type { PolicyModel } from "../model.ts";
import type { BridgedPacketsWay } from "./bridged-packets.ts";
import { enforceOnBridge } from "./enforce-on-bridge.ts";

const CONTEXT = { owner: "a1", podCidrs: [], bridge: "br0", namespace: { name: "test", run: async () => "" } };
const MODEL: PolicyModel = { hasPolicies: false, localAddresses: [], isolated: new Map(), policies: new Map(), addressSets: new Map() };

function recorded(happened: string[]): Enforcer {
  return {
    async apply() {
      happened.push("apply");
      return { written: 1 };
    },
    isIntact: async () => true,
  };
}

function aWay(name: string, happened: string[], state: { problem?: string; isIntact?: boolean } = {}): BridgedPacketsWay {
  return {
    name,
    open: () => ({
      async ensure() {
        happened.push(name);
        if (state.problem !== undefined) throw new Error(state.problem);
      },
      isIntact: async () => state.isIntact ?? true,
    }),
    cleanUp: async () => {},
  };
}

test("rules are written after bridged packets pass them, by the first possible way", async () => {
  const happened: string[] = [];
  const enforcer = enforceOnBridge(recorded(happened), CONTEXT, [
    aWay("first", happened, { problem: "no module" }),
    aWay("second", happened),
  ]);
  await enforcer.apply(MODEL);
  await enforcer.apply(MODEL);
  deepEqual(happened, ["first", "second", "apply", "apply"]);
  equal(enforcer.way, "second");
});

test("without a possible way no rules are written, and the error has all reasons", async () => {
  const happened: string[] = [];
  const ways = [aWay("first", happened, { problem: "no module" }), aWay("second", happened, { problem: "no nft" })];
  await rejects(enforceOnBridge(recorded(happened), CONTEXT, ways).apply(MODEL), {
    message:
      "Cannot enforce network policies between Pods of bridge br0: first: no module; second: no nft; load the kernel module br_netfilter",
  });
  deepEqual(happened, ["first", "second"]);
});

test("a way that was undone is ensured again", async () => {
  const happened: string[] = [];
  const state = { isIntact: true };
  const enforcer = enforceOnBridge(recorded(happened), CONTEXT, [aWay("only", happened, state)]);
  await enforcer.apply(MODEL);
  equal(await enforcer.isIntact(), true);
  state.isIntact = false;
  equal(await enforcer.isIntact(), false);
  await enforcer.apply(MODEL);
  deepEqual(happened, ["only", "apply", "only", "apply"]);
});
