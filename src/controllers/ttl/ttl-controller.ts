/**
 * Annotates Nodes with the time for which their kubelets may use cached Secrets and ConfigMaps, according to the size of the cluster.
 * Not here: how long (secret-ttl.ts).
 */
import { nodes } from "../../api/core/v1/node.ts";
import type { Node } from "../../api/generated/core/v1.ts";
import { defineController, onChange, watch, type Change, type Outcome, type Pass, type WorkKey } from "../runtime/controller.ts";
import { keyOf } from "../runtime/keys.ts";
import { secretTtlSeconds } from "./secret-ttl.ts";

const ANNOTATION = "node.alpha.kubernetes.io/ttl";

/** The key of the number of Nodes; many Nodes that come or go at once are one reconciliation. */
const CLUSTER_SIZE: WorkKey = { kind: "cluster-size", name: "nodes" };

interface Memory {
  /** Of all Nodes. Undefined until the first count: then that of the first Node applies. */
  ttlSeconds: number | undefined;
}

export const ttlController = defineController({
  name: "ttl-controller",
  aliases: ["ttl"],
  account: "ttl-controller",
  rules: [{ apiGroups: [""], resources: ["nodes"], verbs: ["patch"] }],
  watches: [watch(nodes, keysOfNode)],
  start() {
    const memory: Memory = { ttlSeconds: undefined };
    return (key, pass) => (key.kind === CLUSTER_SIZE.kind ? countNodes(pass, memory) : annotate(key, pass, memory));
  },
});

function* keysOfNode({ is, object, previous }: Change<Node>): Iterable<WorkKey> {
  if (is !== "updated") yield CLUSTER_SIZE;
  else if (ttlOf(object) !== (previous && ttlOf(previous))) yield keyOf(object);
}

function ttlOf({ metadata }: Node): number | undefined {
  const text = metadata.annotations?.[ANNOTATION] ?? "";
  return /^\d+$/.test(text) ? Number(text) : undefined;
}

async function countNodes({ read, wake }: Pass, memory: Memory): Promise<Outcome> {
  const all = read.list(nodes);
  const [first] = all;
  memory.ttlSeconds = secretTtlSeconds(all.length, memory.ttlSeconds ?? (first && ttlOf(first)));
  for (const node of all) if (ttlOf(node) !== memory.ttlSeconds) wake(keyOf(node));
  return onChange;
}

async function annotate({ name }: WorkKey, { read, write }: Pass, { ttlSeconds }: Memory): Promise<Outcome> {
  const node = read.get(nodes, { name });
  if (node === undefined || ttlSeconds === undefined || ttlOf(node) === ttlSeconds) return onChange;
  const { uid = "" } = node.metadata;
  await write.patch(
    nodes,
    { name },
    { type: "strategic", value: { metadata: { uid, annotations: { [ANNOTATION]: String(ttlSeconds) } } } },
  );
  return onChange;
}
