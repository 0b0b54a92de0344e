/** `k8ts node` and `k8ts component`: faults and repairs that lessons need. */
import { COMPONENT_KINDS, type ComponentKind } from "../../cluster/components.ts";
import type { Command, CommandContext } from "../command.ts";
import { parseArguments, UsageError } from "../flags.ts";
import { tableLines } from "../text-table.ts";

function nameIn(words: readonly string[], usage: string): string {
  const { positional } = parseArguments(words, {});
  const [name, ...more] = positional;
  if (name === undefined || more.length > 0) throw new UsageError(`usage: k8ts ${usage}`);
  return name;
}

function nodeCommand(verb: string, summary: string, done: string, act: (context: CommandContext, name: string) => Promise<void>): Command {
  return {
    program: "k8ts",
    name: ["node", verb],
    usage: "NODE",
    summary,
    async run(words, context) {
      const name = nameIn(words, `node ${verb} NODE`);
      await act(context, name);
      context.out(`Node ${name} ${done}`);
    },
  };
}

export const nodeStop = nodeCommand(
  "stop",
  "Disconnect a node, like a machine that lost its network",
  "is disconnected",
  ({ nodes }, name) => nodes.stop(name),
);
export const nodePowerOff = nodeCommand("power-off", "Switch a node off: its containers exit", "is off", ({ nodes }, name) =>
  nodes.powerOff(name),
);
export const nodeStart = nodeCommand("start", "Reconnect or boot a node", "is running", ({ nodes }, name) => nodes.start(name));

export const nodeAdd: Command = {
  program: "k8ts",
  name: ["node", "add"],
  usage: "[NODE]",
  summary: "Add a simulated node",
  async run(words, context) {
    const { positional } = parseArguments(words, {});
    context.out(`Node ${await context.nodes.add(positional[0])} has joined`);
  },
};

export const nodeList: Command = {
  program: "k8ts",
  name: ["node", "list"],
  usage: "",
  summary: "List the simulated machines",
  async run(_words, { nodes, out }) {
    const stateOf = (name: string) => (nodes.isPoweredOff(name) ? "off" : nodes.isRunning(name) ? "running" : "disconnected");
    for (const line of tableLines([["NODE", "STATE"], ...nodes.names().map((name) => [name, stateOf(name)])])) out(line);
  },
};

export const componentList: Command = {
  program: "k8ts",
  name: ["component", "list"],
  usage: "",
  summary: "List the instances of scheduler and controller manager",
  async run(_words, { components, out }) {
    const rows = components.list().map(({ name, state }) => [name, state]);
    for (const line of tableLines([["COMPONENT", "STATE"], ...rows])) out(line);
  },
};

export const componentAdd: Command = {
  program: "k8ts",
  name: ["component", "add"],
  usage: COMPONENT_KINDS.join("|"),
  summary: "Start one more instance, which waits until it can become the leader",
  async run(words, { components, out }) {
    const kind = nameIn(words, `component add ${COMPONENT_KINDS.join("|")}`);
    if (!isComponentKind(kind))
      throw new UsageError(`unknown component ${JSON.stringify(kind)}: it must be ${COMPONENT_KINDS.join(" or ")}`);
    out(`Component ${await components.add(kind)} is running`);
  },
};

function isComponentKind(text: string): text is ComponentKind {
  return (COMPONENT_KINDS as readonly string[]).includes(text);
}

function componentCommand(verb: "stop" | "crash" | "start", summary: string, done: string): Command {
  return {
    program: "k8ts",
    name: ["component", verb],
    usage: "COMPONENT",
    summary,
    async run(words, { components, out }) {
      const name = nameIn(words, `component ${verb} COMPONENT`);
      await components[verb](name);
      out(`Component ${name} ${done}`);
    },
  };
}

export const componentStop = componentCommand("stop", "Stop a component: it releases its Lease", "has stopped");
export const componentCrash = componentCommand("crash", "Kill a component: its Lease has to expire", "has crashed");
export const componentStart = componentCommand("start", "Start a stopped component", "is running");
