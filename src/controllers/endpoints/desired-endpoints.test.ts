import { test } from "node:test";
import { deepEqual, equal } from "node:assert/strict";
import type { Endpoints, Pod } from "../../api/generated/core/v1.ts";
import { aPod, aService } from "../shared/service-endpoints/testing/builders.ts";
import { changedEndpoints } from "./desired-endpoints.ts";

const WEB = aService("web", { labels: { team: "x" } });
const A = aPod("a", { ips: ["10.0.0.1"] });
const B = aPod("b", { ips: ["10.0.0.2"] });
const TRIGGER = "endpoints.kubernetes.io/last-change-trigger-time";

function endpointsFor(pods: readonly Pod[], current?: Endpoints): Endpoints {
  return changedEndpoints(WEB, pods, current) ?? (current as Endpoints);
}

test("more than a thousand addresses are truncated, which is annotated, and is stable", () => {
  const many = Array.from({ length: 1001 }, (_, index) => aPod(`p${index}`, { ips: [`10.0.${index >> 8}.${index & 255}`] }));

  const truncated = endpointsFor(many);

  equal(truncated.subsets?.[0]?.addresses?.length, 1000);
  equal(truncated.metadata.annotations?.["endpoints.kubernetes.io/over-capacity"], "truncated");
  equal(changedEndpoints(WEB, many, truncated), undefined);
  equal(endpointsFor([A], truncated).metadata.annotations?.["endpoints.kubernetes.io/over-capacity"], undefined);
});

const CURRENT = endpointsFor([A]);

for (const { it, current, isChanged } of [
  { it: "the same", current: CURRENT, isChanged: false },
  { it: "another trigger time", current: annotated({ [TRIGGER]: "x" }), isChanged: false },
  { it: "annotations of others", current: annotated({ mine: "yes" }), isChanged: false },
  { it: "subsets in pieces", current: { ...CURRENT, subsets: [...(CURRENT.subsets ?? []), ...(CURRENT.subsets ?? [])] }, isChanged: false },
  {
    it: "an obsolete over-capacity annotation",
    current: annotated({ "endpoints.kubernetes.io/over-capacity": "truncated" }),
    isChanged: true,
  },
  { it: "an unexpected label", current: labelled({ ...CURRENT.metadata.labels, other: "1" }), isChanged: true },
  { it: "no managed-by label", current: labelled({ team: "x" }), isChanged: true },
  { it: "no addresses", current: { ...CURRENT, subsets: [] }, isChanged: true },
]) {
  test(`Endpoints with ${it} ${isChanged ? "are" : "are not"} written`, () => {
    equal(changedEndpoints(WEB, [A], current) !== undefined, isChanged);
  });
}

function annotated(annotations: Readonly<Record<string, string>>): Endpoints {
  return { ...CURRENT, metadata: { ...CURRENT.metadata, annotations } };
}

function labelled(labels: Readonly<Record<string, string>>): Endpoints {
  return { ...CURRENT, metadata: { ...CURRENT.metadata, labels } };
}

for (const { it, pods, time } of [
  { it: "an added Pod", pods: [A, aPod("b", { ips: ["10.0.0.2"], readyAt: "2030-02-02T00:00:00Z" })], time: "2030-02-02T00:00:00Z" },
  {
    it: "a Pod that is no longer ready",
    pods: [aPod("a", { ips: ["10.0.0.1"], isReady: false, readyAt: "2030-03-03T00:00:00Z" })],
    time: "2030-03-03T00:00:00Z",
  },
  { it: "a removed Pod", pods: [], time: undefined },
]) {
  test(`the trigger time of ${it} is ${time ?? "unknown"}`, () =>
    deepEqual(endpointsFor(pods, CURRENT).metadata.annotations?.[TRIGGER], time));
}

test("foreign annotations are kept", () => {
  equal(endpointsFor([A, B], annotated({ mine: "yes" })).metadata.annotations?.["mine"], "yes");
});
