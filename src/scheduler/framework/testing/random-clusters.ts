/** Random clusters, Pods with every hard rule, and events: small, so that rules interact. */
import fc from "fast-check";
import type { Node, Pod } from "../../../api/generated/core/v1.ts";
import { aNode, aPod, type NodeParts, type PodParts } from "./builders.ts";

const APPS = ["a", "b"] as const;
const ZONE = "topology.kubernetes.io/zone";
const HOST = "kubernetes.io/hostname";
const TAINT = { key: "k", value: "v", effect: "NoSchedule" } as const;

const selector = fc.constantFrom(...APPS).map((app) => ({ matchLabels: { app } }));
const topologyKey = fc.constantFrom(ZONE, HOST);
const podTerm = fc
  .record({ topologyKey, labelSelector: selector })
  .map((term) => ({ requiredDuringSchedulingIgnoredDuringExecution: [term] }));
const nodeTerm = fc
  .constantFrom(
    { key: ZONE, operator: "In", values: ["z1"] } as const,
    { key: ZONE, operator: "NotIn", values: ["z2"] } as const,
    { key: "disk", operator: "Exists" } as const,
    { key: "disk", operator: "DoesNotExist" } as const,
  )
  .map((requirement) => ({
    requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions: [requirement] }] },
  }));
const affinity = fc.oneof(
  podTerm.map((podAffinity) => ({ podAffinity })),
  podTerm.map((podAntiAffinity) => ({ podAntiAffinity })),
  nodeTerm.map((nodeAffinity) => ({ nodeAffinity })),
);
const spread = fc
  .record({ maxSkew: fc.integer({ min: 1, max: 2 }), topologyKey, labelSelector: selector })
  .map((constraint) => [{ ...constraint, whenUnsatisfiable: "DoNotSchedule" as const }]);

/** Most Pods have few rules, or none would ever be placed. */
function rarely<T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });
}

function definedOnly<T extends object>(parts: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };
}

const podParts: fc.Arbitrary<PodParts> = fc
  .record({
    labels: fc.constantFrom(...APPS).map((app) => ({ app })),
    cpu: fc.constantFrom("250m", "500m", "1", "2", undefined),
    memory: fc.constantFrom("128Mi", "512Mi", undefined),
    ports: rarely(fc.constantFrom([80], [81])),
    tolerations: rarely(fc.constant([{ key: "k", operator: "Exists" as const }])),
    nodeSelector: rarely(fc.constantFrom({ [ZONE]: "z1" }, { disk: "ssd" })),
    affinity: rarely(affinity),
    spread: rarely(spread),
    priority: fc.integer({ min: 0, max: 2 }),
  })
  .map((parts) => definedOnly(parts) as PodParts);

const nodeParts: fc.Arbitrary<NodeParts> = fc
  .record({
    zone: fc.constantFrom("z1", "z2", undefined),
    labels: rarely(fc.constant({ disk: "ssd" })),
    taints: rarely(fc.constant([TAINT])),
    unschedulable: rarely(fc.constant(true)),
    cpu: fc.constantFrom("1", "2", "3"),
    memory: fc.constantFrom("512Mi", "1Gi"),
    pods: fc.constantFrom("2", "4", "110"),
  })
  .map((parts) => definedOnly(parts) as NodeParts);

/** `which`: one of those that there are. */
export type Happening =
  | { readonly do: "add pods"; readonly pods: readonly PodParts[] }
  | { readonly do: "add node"; readonly node: NodeParts }
  | { readonly do: "delete pod"; readonly which: number }
  | { readonly do: "uncordon"; readonly which: number }
  | { readonly do: "untaint"; readonly which: number }
  | { readonly do: "relabel node"; readonly which: number; readonly disk: string | null }
  | { readonly do: "relabel pod"; readonly which: number; readonly app: string };

const which = fc.nat(20);

const happenings: fc.Arbitrary<readonly Happening[]> = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ do: fc.constant("add pods" as const), pods: fc.array(podParts, { minLength: 1, maxLength: 4 }) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("add node" as const), node: nodeParts }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant("delete pod" as const), which }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("uncordon" as const), which }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("untaint" as const), which }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("relabel node" as const), which, disk: fc.constantFrom("ssd", null) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("relabel pod" as const), which, app: fc.constantFrom(...APPS) }) },
  ),
  { minLength: 1, maxLength: 8 },
);

export interface RandomCluster {
  readonly nodes: readonly NodeParts[];
  readonly happenings: readonly Happening[];
  readonly seed: number;
}

export const randomClusters: fc.Arbitrary<RandomCluster> = fc.record({
  nodes: fc.array(nodeParts, { minLength: 1, maxLength: 4 }),
  happenings,
  seed: fc.nat(1_000),
});

export function nodesOf({ nodes }: RandomCluster): readonly Node[] {
  return nodes.map((parts, index) => aNode(`n${index}`, parts));
}

/** `made`: how many existed before. */
export function podsOf(parts: readonly PodParts[], made: number): readonly Pod[] {
  return parts.map((each, index) => aPod(`p${made + index}`, each));
}
