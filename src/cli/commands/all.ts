/** The commands, in the order of the overview. One more is its file here, its test, and one line in this list. */
import type { CommandEntry } from "../framework/command.ts";

export const all: readonly CommandEntry[] = [
  {
    name: "up",
    summary: "Start a cluster, in this process until Ctrl-C or in the background",
    load: async () => (await import("./up.ts")).up,
  },
  {
    name: "status",
    summary: "Show what runs of a cluster, and how it is",
    load: async () => (await import("./status.ts")).status,
  },
  {
    name: "logs",
    summary: "Print what a cluster has logged",
    load: async () => (await import("./logs.ts")).logs,
  },
  {
    name: "down",
    summary: "Stop a cluster and keep its data",
    load: async () => (await import("./down.ts")).down,
  },
  {
    name: "reset",
    summary: "Stop a cluster and delete all of it",
    load: async () => (await import("./reset.ts")).reset,
  },
  {
    name: "kubectl",
    summary: "Run kubectl for a cluster of this machine, and fetch it if there is none",
    passesThrough: true,
    load: async () => (await import("./kubectl.ts")).kubectl,
  },
  {
    name: "image load",
    summary: "Put the images of a tar into the node of a cluster",
    load: async () => (await import("./image-load.ts")).imageLoad,
  },
  {
    name: "apiserver",
    summary: "Start an API server alone and keep it running until Ctrl-C",
    load: async () => (await import("./apiserver.ts")).apiServer,
  },
  {
    name: "controller-manager",
    summary: "Run the controllers of a cluster in a process of their own",
    load: async () => (await import("./controller-manager.ts")).controllerManager,
  },
  {
    name: "scheduler",
    summary: "Run the scheduler of a cluster in a process of its own",
    load: async () => (await import("./scheduler.ts")).scheduler,
  },
  {
    name: "kubelet",
    summary: "Make this machine a node of a cluster, in a process of its own",
    load: async () => (await import("./kubelet.ts")).kubelet,
  },
  {
    name: "simulated-nodes",
    summary: "Join nodes whose Pods are played to a cluster",
    load: async () => (await import("./simulated-nodes.ts")).simulatedNodes,
  },
  {
    name: "elect",
    summary: "Let one of several processes lead, and run a command only there",
    load: async () => (await import("./elect.ts")).elect,
  },
  {
    name: "store get",
    summary: "Print the stored value of a key",
    load: async () => (await import("./store-get.ts")).storeGet,
  },
  {
    name: "store list",
    summary: "Print the keys of a store, or its keys and values",
    load: async () => (await import("./store-list.ts")).storeList,
  },
  {
    name: "store watch",
    summary: "Print the changes of a running store as they come",
    load: async () => (await import("./store-watch.ts")).storeWatch,
  },
  {
    name: "store status",
    summary: "Print what a store holds, in numbers",
    load: async () => (await import("./store-status.ts")).storeStatus,
  },
  {
    name: "store snapshot",
    summary: "Copy everything that a store holds to a file",
    load: async () => (await import("./store-snapshot.ts")).storeSnapshot,
  },
  {
    name: "store restore",
    summary: "Fill an empty data directory with a snapshot",
    load: async () => (await import("./store-restore.ts")).storeRestore,
  },
  {
    name: "store hash",
    summary: "Print one hash of everything that a store holds",
    load: async () => (await import("./store-hash.ts")).storeHash,
  },
  {
    name: "store compact",
    summary: "Forget old history and free its space",
    load: async () => (await import("./store-compact.ts")).storeCompact,
  },
];
