/** All commands, in the order of the overview. To add one: its file here, its test, and one line in this list. */
import type { CommandEntry } from "../framework/command.ts";

export const all: readonly CommandEntry[] = [
  {
    name: "up",
    summary: "Start a cluster in the foreground, or in the background with --detach",
    load: async () => (await import("./up.ts")).up,
  },
  {
    name: "status",
    summary: "Show the state, nodes, Pods and addresses of a cluster",
    load: async () => (await import("./status.ts")).status,
  },
  {
    name: "why",
    summary: "Explain why an object is as it is, and what would change it",
    load: async () => (await import("./explain/why.ts")).why,
  },
  {
    name: "trace",
    summary: "Print every write that an apply set in motion",
    load: async () => (await import("./explain/trace.ts")).trace,
  },
  {
    name: "logs",
    summary: "Print the logs of a cluster's components",
    load: async () => (await import("./logs.ts")).logs,
  },
  {
    name: "down",
    summary: "Stop a cluster and keep its data",
    load: async () => (await import("./down.ts")).down,
  },
  {
    name: "reset",
    summary: "Stop a cluster and delete its data",
    load: async () => (await import("./reset.ts")).reset,
  },
  {
    name: "kubectl",
    summary: "Run kubectl against a local cluster, downloading it if it is not installed",
    passesThrough: true,
    load: async () => (await import("./kubectl.ts")).kubectl,
  },
  {
    name: "dashboard",
    summary: "Print a link that opens the dashboard of a cluster, logged in",
    load: async () => (await import("./dashboard.ts")).dashboard,
  },
  {
    name: "image load",
    summary: "Load container images from a tar archive into a cluster's node",
    load: async () => (await import("./image-load.ts")).imageLoad,
  },
  {
    name: "token create",
    summary: "Create a bootstrap token and print the command with which a machine joins the cluster",
    load: async () => (await import("./token/token-create.ts")).tokenCreate,
  },
  {
    name: "token list",
    summary: "List the bootstrap tokens of a cluster",
    load: async () => (await import("./token/token-list.ts")).tokenList,
  },
  {
    name: "token delete",
    summary: "Delete bootstrap tokens of a cluster",
    load: async () => (await import("./token/token-delete.ts")).tokenDelete,
  },
  {
    name: "token generate",
    summary: "Print a random bootstrap token without creating it",
    load: async () => (await import("./token/token-generate.ts")).tokenGenerate,
  },
  {
    name: "join",
    summary: "Join this machine to a cluster as a node",
    load: async () => (await import("./join.ts")).join,
  },
  {
    name: "apiserver",
    summary: "Run a standalone API server",
    load: async () => (await import("./apiserver.ts")).apiServer,
  },
  {
    name: "controller-manager",
    summary: "Run the controller manager as a separate process",
    load: async () => (await import("./controller-manager.ts")).controllerManager,
  },
  {
    name: "scheduler",
    summary: "Run the scheduler as a separate process",
    load: async () => (await import("./scheduler.ts")).scheduler,
  },
  {
    name: "ingress",
    summary: "Run the ingress controller as a separate process",
    load: async () => (await import("./ingress.ts")).ingress,
  },
  {
    name: "kubelet",
    summary: "Run the kubelet: join this machine to a cluster as a node",
    load: async () => (await import("./kubelet.ts")).kubelet,
  },
  {
    name: "proxy",
    summary: "Run the service proxy of this machine",
    load: async () => (await import("./proxy.ts")).proxy,
  },
  {
    name: "network",
    summary: "Run the network components of a node as a separate process",
    load: async () => (await import("./network.ts")).network,
  },
  {
    name: "dns",
    summary: "Run a DNS server for the names of a cluster",
    load: async () => (await import("./dns.ts")).dns,
  },
  {
    name: "simulated-nodes",
    summary: "Join simulated nodes to a cluster",
    load: async () => (await import("./simulated-nodes.ts")).simulatedNodes,
  },
  {
    name: "envtest",
    summary: "Write executables for controller-runtime's envtest (Go)",
    load: async () => (await import("./envtest/envtest.ts")).envtest,
  },
  {
    name: "envtest apiserver",
    summary: "Run an API server with the command line of kube-apiserver, for envtest",
    load: async () => (await import("./envtest/envtest-apiserver.ts")).envtestApiServer,
  },
  {
    name: "envtest etcd",
    summary: "Answer health checks with the command line of etcd, for envtest",
    load: async () => (await import("./envtest/envtest-etcd.ts")).envtestEtcd,
  },
  {
    name: "elect",
    summary: "Run leader election with a Lease, and optionally a command on the leader",
    load: async () => (await import("./elect.ts")).elect,
  },
  {
    name: "node add",
    summary: "Add a node on this machine to a running cluster",
    load: async () => (await import("./node-add.ts")).nodeAdd,
  },
  {
    name: "node remove",
    summary: "Remove a node of this machine from a running cluster",
    load: async () => (await import("./node-remove.ts")).nodeRemove,
  },
  {
    name: "node stop",
    summary: "Cut a node of this machine off: disconnect, pause or kill it",
    load: async () => (await import("./node-stop.ts")).nodeStop,
  },
  {
    name: "node start",
    summary: "Bring back a node of this machine",
    load: async () => (await import("./node-start.ts")).nodeStart,
  },
  {
    name: "node list",
    summary: "List the nodes of a cluster on this machine",
    load: async () => (await import("./node-list.ts")).nodeList,
  },
  {
    name: "read-worker",
    summary: "Serve reads of the API server that starts it (--read-workers)",
    load: async () => (await import("./read-worker/read-worker.ts")).readWorker,
  },
  {
    name: "store get",
    summary: "Print the stored value of a key",
    load: async () => (await import("./store/store-get.ts")).storeGet,
  },
  {
    name: "store list",
    summary: "List the keys of a store, optionally with their values",
    load: async () => (await import("./store/store-list.ts")).storeList,
  },
  {
    name: "store watch",
    summary: "Print changes in a running store as they happen",
    load: async () => (await import("./store/store-watch.ts")).storeWatch,
  },
  {
    name: "store status",
    summary: "Print revision, key count and size of a store",
    load: async () => (await import("./store/store-status.ts")).storeStatus,
  },
  {
    name: "store snapshot",
    summary: "Write a snapshot of a store to a file",
    load: async () => (await import("./store/store-snapshot.ts")).storeSnapshot,
  },
  {
    name: "store restore",
    summary: "Restore a snapshot into an empty data directory",
    load: async () => (await import("./store/store-restore.ts")).storeRestore,
  },
  {
    name: "store hash",
    summary: "Print a hash of a store's contents",
    load: async () => (await import("./store/store-hash.ts")).storeHash,
  },
  {
    name: "store compact",
    summary: "Compact a store: discard old revisions and reclaim their space",
    load: async () => (await import("./store/store-compact.ts")).storeCompact,
  },
];
