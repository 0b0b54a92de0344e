import { deepEqual, rejects } from "node:assert/strict";
import { test } from "node:test";
import type { Plugin, PreFlightAnswer } from "../framework/plugin.ts";
import { preBindGroups, runPreBinds } from "./pre-bind.ts";
import { fakePod, rejection } from "./testing/fakes.ts";

const POD = fakePod("p");
const SIGNAL = new AbortController().signal;

function plugin(name: string, answer: PreFlightAnswer, preBind: NonNullable<Plugin["preBind"]> = async () => undefined): Plugin {
  return { name, preBindPreFlight: () => answer, preBind };
}

test("plugins without work are skipped; neighbours that allow it are in one group", () => {
  const groups = (...preBind: readonly Plugin[]) =>
    preBindGroups({ preBind }, POD, "n").map((group) => group.map(({ name }) => name).join(" "));
  const a = plugin("a", "parallel");

  deepEqual(groups(a, plugin("b", "skip"), plugin("c", "parallel")), ["a c"]);
  deepEqual(groups(a, plugin("b", "alone"), plugin("c", "parallel"), plugin("d", "parallel")), ["a", "b", "c d"]);
  deepEqual(groups(plugin("b", "skip")), []);
  deepEqual(groups({ name: "old", preBind: async () => undefined }, a), ["old", "a"]);
});

test("the plugins of a group run concurrently, and groups one after the other", async () => {
  const steps: string[] = [];
  let bothBegan = (): void => {};
  const both = new Promise<void>((resolve) => (bothBegan = resolve));
  const first = plugin("first", "parallel", async () => {
    steps.push("first begins");
    await both;
    return undefined;
  });
  const second = plugin("second", "parallel", async () => {
    steps.push("second begins");
    bothBegan();
    return undefined;
  });
  const last = plugin("last", "alone", async () => {
    steps.push("last begins");
    return undefined;
  });

  deepEqual(await runPreBinds([[first, second], [last]], POD, "n", SIGNAL), undefined);
  deepEqual(steps, ["first begins", "second begins", "last begins"]);
});

test("a rejection aborts the others of the group and ends the attempt", async () => {
  const refused = rejection("no volume");
  const waiting = plugin(
    "waiting",
    "parallel",
    (_pod, _node, signal) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("aborted")))),
  );
  const refusing = plugin("refusing", "parallel", async () => refused);
  const never = plugin("never", "alone", () => Promise.reject(new Error("must not be called")));

  deepEqual(await runPreBinds([[waiting, refusing], [never]], POD, "n", SIGNAL), { plugin: "refusing", rejection: refused });
});

test("an error is reported with the plugin's name", async () => {
  const failing = plugin("Bad", "alone", () => Promise.reject(new Error("boom")));
  await rejects(runPreBinds([[failing]], POD, "n", SIGNAL), { message: 'running PreBind plugin "Bad": boom' });
});
