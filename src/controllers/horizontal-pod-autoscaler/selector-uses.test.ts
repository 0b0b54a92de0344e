import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { parseLabelSelector } from "../../api/machinery/selectors/label-selector.ts";
import { buildPod } from "../../api/testing/pod.ts";
import { SelectorUses } from "./selector-uses.ts";

function aPod(labels: Readonly<Record<string, string>>) {
  return buildPod({ metadata: { name: "p", namespace: "shop", labels } });
}

test("autoscalers are found by the Pods that they select, whatever the form of their selectors", () => {
  const uses = new SelectorUses();
  const set = (name: string, text: string) => uses.set({ namespace: "shop", name }, parseLabelSelector(text));
  set("exact", "app=web");
  set("more", "tier in (front,back),app=web");
  set("without-value", "app!=db,tier");
  set("other", "app=db");
  uses.set({ namespace: "elsewhere", name: "far" }, parseLabelSelector("app=web"));

  deepEqual(uses.of("shop", [aPod({ app: "web", tier: "front" })]), ["exact", "more", "without-value"]);
  deepEqual(uses.of("shop", [aPod({ app: "web" }), aPod({ app: "db" })]), ["exact", "other"]);
  deepEqual(uses.of("shop", []), []);
});

test("a changed selector replaces the previous one, and a removed autoscaler selects nothing", () => {
  const uses = new SelectorUses();
  const key = { namespace: "shop", name: "a" };
  uses.set(key, parseLabelSelector("app=web"));
  uses.set(key, parseLabelSelector("app=db"));

  deepEqual([uses.of("shop", [aPod({ app: "web" })]), uses.of("shop", [aPod({ app: "db" })])], [[], ["a"]]);
  uses.remove(key);
  deepEqual(uses.of("shop", [aPod({ app: "db" })]), []);
});
