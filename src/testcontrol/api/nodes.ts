/** Routes of simulated nodes. */
import { SIMULATED_NODES_MAX } from "../../components/simulated-nodes/simulated-fleet.ts";
import type { ClusterNodes } from "../../components/simulated-nodes/simulated-nodes.ts";
import { conflict, notFound, tooMany } from "../problem.ts";
import type { TestControl } from "../test-control.ts";
import type { Fields } from "./fields.ts";
import { nameField } from "./names.ts";
import { defineRoute } from "./route.ts";

const STATES = ["running", "stopped", "cutOff"] as const;

const NODE = {
  name: { type: "string", required: true, doc: "Name of the Node object." },
  state: { type: "string", values: STATES, required: true, doc: "stopped: powered off. cutOff: without a network, its Pods run on." },
} as const satisfies Fields;

export const nodeRoutes = [
  defineRoute({
    method: "GET",
    path: "/v1/clusters/{cluster}/nodes",
    operation: "listNodes",
    summary: "Lists the simulated nodes.",
    answer: { nodes: { type: "list", fields: NODE, required: true, doc: "In the order of their creation." } },
    async handle({ control, parameters }) {
      const { nodes } = await control.cluster(parameters.cluster).current.started();
      return { nodes: nodes.names().map((name) => describe(nodes, name)) };
    },
  }),
  defineRoute({
    method: "POST",
    path: "/v1/clusters/{cluster}/nodes",
    operation: "addNode",
    summary: "Adds a simulated node. Answers when it is registered.",
    body: { name: { ...nameField, doc: "Default: the next of node-0, node-1, …" } },
    answer: NODE,
    async handle({ control, parameters, body }) {
      const { current } = control.cluster(parameters.cluster);
      const { nodes } = await current.started();
      const names = nodes.names();
      if (body.name !== undefined && names.includes(body.name))
        throw conflict(`Node "${body.name}" exists already`, "Choose another name, or leave it out");
      if (names.length >= SIMULATED_NODES_MAX)
        throw tooMany(`There are ${names.length} nodes, the maximum`, "Remove some with DELETE …/nodes/{node}");
      return describe(nodes, await current.through(() => nodes.add(body.name)));
    },
  }),
  action("stop", "stopNode", "Powers a node off: it reports nothing any more, and its containers exit.", (nodes, name) =>
    nodes.powerOff(name),
  ),
  action("cut-off", "cutOffNode", "Cuts a node off from the network: it reports nothing any more, and its Pods run on.", (nodes, name) =>
    nodes.isPoweredOff(name) ? Promise.resolve() : nodes.stop(name),
  ),
  action("start", "startNode", "Boots a stopped node, or reconnects one that was cut off.", (nodes, name) => nodes.start(name)),
  defineRoute({
    method: "DELETE",
    path: "/v1/clusters/{cluster}/nodes/{node}",
    operation: "removeNode",
    summary: "Stops a node for good. Its Node object stays until a client deletes it.",
    answer: {},
    async handle({ control, parameters }) {
      const { current, nodes, name } = await known(control, parameters);
      await current.through(() => nodes.remove(name));
      return {};
    },
  }),
];

function action(word: string, operation: string, summary: string, act: (nodes: ClusterNodes, name: string) => Promise<void>) {
  return defineRoute({
    method: "POST",
    path: `/v1/clusters/{cluster}/nodes/{node}/${word}`,
    operation,
    summary,
    answer: NODE,
    async handle({ control, parameters }) {
      const { current, nodes, name } = await known(control, parameters);
      await current.through(() => act(nodes, name));
      return describe(nodes, name);
    },
  });
}

async function known(control: TestControl, { cluster, node: name }: { readonly cluster: string; readonly node: string }) {
  const { current } = control.cluster(cluster);
  const { nodes } = await current.started();
  const names = nodes.names();
  if (!names.includes(name)) throw notFound(`Node "${name}" does not exist`, `Use one of: ${names.join(", ") || "none exists"}`);
  return { current, nodes, name };
}

function describe(nodes: ClusterNodes, name: string) {
  const state: (typeof STATES)[number] = nodes.isRunning(name) ? "running" : nodes.isPoweredOff(name) ? "stopped" : "cutOff";
  return { name, state };
}
