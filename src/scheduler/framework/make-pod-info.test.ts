import assert from "node:assert/strict";
import { test } from "node:test";
import type { Container } from "../../api/generated/core/v1.ts";
import { NOTHING } from "../../api/machinery/selectors/label-selector.ts";
import { aPod } from "./testing/builders.ts";
import { placedOn, podInfoOf } from "./make-pod-info.ts";

const TERM = { topologyKey: "zone", labelSelector: { matchLabels: { app: "web" } } };
const BROKEN = { topologyKey: "zone", labelSelector: { matchExpressions: [{ key: "a", operator: "Perhaps" }] } };

test("the same Pod object has one PodInfo, another version has its own", () => {
  const pod = aPod("a");

  assert.equal(podInfoOf(pod), podInfoOf(pod));
  assert.notEqual(podInfoOf({ ...pod }), podInfoOf(pod));
});

test("a minimal Pod has no priority, labels, ports or rules", () => {
  const pod = aPod("a", { namespace: "n", uid: "u" });

  const { key, uid, namespace, labels, priority, hostPorts, requiredAffinity, preferredAntiAffinity } = podInfoOf(pod);

  assert.deepEqual(
    { key, uid, namespace, labels, priority, hostPorts, requiredAffinity, preferredAntiAffinity },
    { key: "n/a", uid: "u", namespace: "n", labels: {}, priority: 0, hostPorts: [], requiredAffinity: [], preferredAntiAffinity: [] },
  );
});

test("host ports are those of sidecars and containers, with their address and protocol", () => {
  const withPort = (name: string, port: number): Container => ({ name, ports: [{ containerPort: 1, hostPort: port }] });
  const pod = aPod("a", {
    ports: [80, { port: 53, protocol: "UDP", ip: "127.0.0.1" }],
    initContainers: [{ ...withPort("side", 1), restartPolicy: "Always" }, withPort("init", 2)],
  });

  assert.deepEqual(podInfoOf(pod).hostPorts, [
    { ip: "0.0.0.0", protocol: "TCP", port: 1 },
    { ip: "0.0.0.0", protocol: "TCP", port: 80 },
    { ip: "127.0.0.1", protocol: "UDP", port: 53 },
  ]);
});

test("a container port without hostPort is not counted", () => {
  const pod = aPod("a", { containers: [{ name: "a", ports: [{ containerPort: 80 }, { containerPort: 81, hostPort: 0 }] }] });

  assert.deepEqual(podInfoOf(pod).hostPorts, []);
});

const namespaceRows = [
  { title: "without namespaces it is about the Pod's own", term: TERM, named: ["own"], byLabel: [false, false] },
  {
    title: "configured constraints replace the defaults",
    term: { ...TERM, namespaces: ["b", "c"] },
    named: ["b", "c"],
    byLabel: [false, false],
  },
  { title: "an empty selector means all", term: { ...TERM, namespaceSelector: {} }, named: [], byLabel: [true, true] },
  {
    title: "named ones and selected ones are added",
    term: { ...TERM, namespaces: ["b"], namespaceSelector: { matchLabels: { team: "x" } } },
    named: ["b"],
    byLabel: [true, false],
  },
];

for (const { title, term, named, byLabel } of namespaceRows) {
  test(`a term of affinity: ${title}`, () => {
    const affinity = { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } };

    const [read] = podInfoOf(aPod("a", { namespace: "own", affinity })).requiredAffinity;

    assert.deepEqual([...(read?.namespaces ?? [])], named);
    assert.deepEqual(
      [{ team: "x" }, {}].map((labels) => read?.namespaceSelector.matches(labels)),
      byLabel,
    );
  });
}

test("terms keep their kind, order and weight; one without a selector selects nothing", () => {
  const weighted = [
    { weight: 7, podAffinityTerm: TERM },
    { weight: 3, podAffinityTerm: { topologyKey: "host" } },
  ];
  const affinity = {
    podAffinity: { preferredDuringSchedulingIgnoredDuringExecution: weighted },
    podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [TERM] },
  };

  const info = podInfoOf(aPod("a", { affinity }));

  assert.deepEqual(
    info.preferredAffinity.map(({ weight, term }) => [weight, term.topologyKey]),
    [
      [7, "zone"],
      [3, "host"],
    ],
  );
  assert.equal(info.preferredAffinity[1]?.term.selector, NOTHING);
  assert.equal(info.requiredAntiAffinity[0]?.selector.matches({ app: "web" }), true);
  assert.deepEqual([info.requiredAffinity, info.preferredAntiAffinity], [[], []]);
});

test("a list with an invalid selector is omitted, the others are not", () => {
  const affinity = {
    podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [TERM, BROKEN] },
    podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [TERM] },
  };

  const info = podInfoOf(aPod("a", { affinity }));

  assert.deepEqual([info.requiredAffinity.length, info.requiredAntiAffinity.length], [0, 1]);
});

test("a new Pod version reuses the rules of the last one, and recomputes everything else", () => {
  const affinity = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [TERM] } };
  const last = podInfoOf(aPod("a", { affinity, labels: { v: "1" }, cpu: "1" }));

  const next = podInfoOf(aPod("a", { affinity, labels: { v: "2" }, cpu: "2" }), last);
  const namesake = podInfoOf(aPod("a", { uid: "another" }), last);

  assert.equal(next.requiredAntiAffinity, last.requiredAntiAffinity);
  assert.deepEqual([next.labels, next.requests.milliCpu], [{ v: "2" }, 2_000]);
  assert.deepEqual(namesake.requiredAntiAffinity, []);
});

test("an assigned Pod differs only in its node, and the original is unchanged", () => {
  const info = podInfoOf(aPod("a", { cpu: "1" }));

  const placed = placedOn(info, "n1");

  assert.equal(placed.pod.spec?.nodeName, "n1");
  assert.equal(info.pod.spec?.nodeName, undefined);
  assert.deepEqual({ ...placed, pod: info.pod }, info);
  assert.equal(podInfoOf(placed.pod), placed);
  assert.equal(placedOn(placed, "n1"), placed);
});
