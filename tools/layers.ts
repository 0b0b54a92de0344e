/**
 * The table of which room of src/ may import which; layers.own.test.ts enforces it. The room of a file is the longest row that its path
 * starts with. Read a row as "<room> may import <rooms>, and <packages>"; a room that is not listed must not be imported, even if it is
 * inside one that is. Do not relax a row to make a change fit: move the code.
 */
import { posix } from "node:path";
import { importsOf, type Import } from "./source/imports.ts";
import { isTestCode, type Source } from "./source/source.ts";

export interface Room {
  /** Rooms that it may import; "all" is for composition roots. */
  readonly knows: readonly string[] | "all";
  /** True if it may import `node:*`: only host, composition roots and tests. */
  readonly node?: true;
  /** npm packages, each imported by one room only. */
  readonly packages?: readonly string[];
}

const API = ["base", "api/machinery", "cel", "api"];

/** All components of a cluster and their dependencies, imported by the rooms that assemble clusters. */
const COMPONENTS = [
  ...API,
  "explain",
  "host/**",
  "csi/**",
  "store/**",
  "client/**",
  "apiserver/**",
  "controllers/**",
  "scheduler/**",
  "kubelet/**",
  "proxy/**",
  "dns/**",
  "ingress/**",
  "networkpolicy/**",
  "podnetwork/**",
  "localpath/**",
  "dashboard/**",
];

/** The contracts of the API server, that of the store, and the explain API. */
const APISERVER_CONTRACTS = [...API, "explain", "store", "apiserver/framework"];

/** Known to every part of the API server's engine: the contracts, and the helpers that engine and plugins share. */
const APISERVER_ENGINE = [...APISERVER_CONTRACTS, "apiserver/shared"];

/** Known to every plugin of the API server: the same, neither the engine nor another plugin. */
const APISERVER_PLUGIN = APISERVER_ENGINE;

/** Known to everything that the kubelet calls, which does not know the kubelet. */
const KUBELET_CONTRACTS = ["kubelet/contracts", "kubelet/shared"];

/** Ordered: a room knows only rooms above it. "x/**" is x and every room in it. */
export const ROOMS: Readonly<Record<string, Room>> = {
  base: { knows: [], packages: ["@noble/hashes", "sorted-btree"] },
  // The parts of host are named by what they touch and may use each other; tools/cycles.ts keeps them free of import cycles.
  host: { knows: ["base"], node: true },
  "host/files": { knows: ["base", "host/**"], node: true },
  "host/processes": { knows: ["base", "host/**"], node: true },
  "host/kernel": { knows: ["base", "host/**"], node: true },
  "host/network": { knows: ["base", "host/**"], node: true },
  "host/http": { knows: ["base", "host/**"], node: true, packages: ["ws"] },
  "host/grpc": { knows: ["base", "host/**"], node: true, packages: ["@grpc/grpc-js"] },
  "host/spdy": { knows: ["base", "host/**"], node: true },
  "host/crypto": { knows: ["base", "host/**"], node: true },
  "host/relay": { knows: ["base", "host/**"], node: true },
  "host/archive": { knows: ["base", "host/**"], node: true },
  "host/download": { knows: ["base", "host/**"], node: true },
  "api/machinery": { knows: ["base"], packages: ["@noble/curves", "micro-rsa-dsa-dh", "yaml"] },
  // The Common Expression Language: pure, knows no kind of the API.
  cel: { knows: ["base", "api/machinery"] },
  api: { knows: ["base", "api/machinery", "cel"] },
  // The Container Storage Interface: its messages and the contract of a driver.
  csi: { knows: ["base"] },
  "csi/client": { knows: ["base", "host/**", "csi"] },
  // Types of the explain API, and pure conclusions from what it returns.
  explain: { knows: API },
  store: { knows: ["base"] },
  "store/memory": { knows: ["base", "store"] },
  "store/embedded": { knows: ["base", "host/**", "store"], packages: ["lmdb"] },
  "store/remote": { knows: ["base", "store"] },
  "store/etcd": { knows: ["base", "host/**", "store"] },
  client: { knows: API },
  "client/https": { knows: [...API, "host/**", "client"] },
  "apiserver/framework": { knows: [...API, "explain", "store"] },
  "apiserver/shared": { knows: APISERVER_CONTRACTS },
  "apiserver/limits": { knows: APISERVER_ENGINE },
  "apiserver/storage": { knows: APISERVER_ENGINE },
  "apiserver/watch": { knows: APISERVER_ENGINE },
  "apiserver/write": { knows: [...APISERVER_ENGINE, "apiserver/limits"] },
  "apiserver/verbs": { knows: [...APISERVER_ENGINE, "apiserver/limits", "apiserver/watch", "apiserver/write"] },
  "apiserver/pipeline": { knows: [...APISERVER_ENGINE, "apiserver/limits", "apiserver/verbs"] },
  "apiserver/rest": { knows: [...APISERVER_ENGINE, "apiserver/limits", "apiserver/verbs", "apiserver/pipeline"] },
  "apiserver/admission": { knows: APISERVER_PLUGIN },
  "apiserver/aggregation": { knows: APISERVER_PLUGIN },
  "apiserver/authentication": { knows: APISERVER_PLUGIN },
  "apiserver/authorization": { knows: APISERVER_PLUGIN },
  "apiserver/bootstrap": { knows: APISERVER_PLUGIN },
  "apiserver/connections": { knows: APISERVER_PLUGIN },
  "apiserver/custom-metrics": { knows: APISERVER_PLUGIN },
  "apiserver/customresources": { knows: APISERVER_PLUGIN },
  "apiserver/documents": { knows: APISERVER_PLUGIN },
  "apiserver/fairness": { knows: APISERVER_PLUGIN },
  "apiserver/resources": { knows: APISERVER_PLUGIN },
  "apiserver/webhooks": { knows: APISERVER_PLUGIN },
  // Composes the engine and the plugins. All of the API server but its sockets.
  apiserver: {
    knows: [
      ...APISERVER_PLUGIN,
      "apiserver/limits",
      "apiserver/storage",
      "apiserver/watch",
      "apiserver/write",
      "apiserver/verbs",
      "apiserver/pipeline",
      "apiserver/rest",
      "apiserver/admission",
      "apiserver/aggregation",
      "apiserver/authentication",
      "apiserver/authorization",
      "apiserver/bootstrap",
      "apiserver/connections",
      "apiserver/custom-metrics",
      "apiserver/customresources",
      "apiserver/documents",
      "apiserver/fairness",
      "apiserver/resources",
      "apiserver/webhooks",
    ],
  },
  "apiserver/http": { knows: [...APISERVER_PLUGIN, "host/**"] },
  "controllers/runtime": { knows: [...API, "client"] },
  "controllers/shared": { knows: [...API, "client", "controllers/runtime"] },
  controllers: { knows: [...API, "client", "controllers/runtime", "controllers/shared"] },
  "scheduler/framework": { knows: API },
  "scheduler/plugins": { knows: [...API, "scheduler/framework"] },
  scheduler: { knows: [...API, "client", "scheduler/framework"] },
  "kubelet/contracts": { knows: API },
  // Pure helpers that runtimes and volumes have in common with the kubelet.
  "kubelet/shared": { knows: [...API, "kubelet/contracts"] },
  kubelet: { knows: [...API, "client", ...KUBELET_CONTRACTS] },
  // A runtime knows its contract only, not the kubelet that calls it.
  "kubelet/runtime": { knows: [...API, ...KUBELET_CONTRACTS] },
  "kubelet/runtime/cri": { knows: [...API, "host/**", ...KUBELET_CONTRACTS] },
  "kubelet/volumes/framework": { knows: [...API, "csi", ...KUBELET_CONTRACTS] },
  // A volume kind knows its contract only, not the kubelet that calls it.
  "kubelet/volumes": { knows: [...API, "csi", "kubelet/volumes/framework"] },
  "kubelet/plugin-registration": { knows: [...API, "host/**", ...KUBELET_CONTRACTS] },
  "kubelet/dra": { knows: [...API, "host/**", "client", ...KUBELET_CONTRACTS, "kubelet/plugin-registration"] },
  "kubelet/machine": { knows: [...API, "host/**", "csi/**", "client", "kubelet", ...KUBELET_CONTRACTS, "kubelet/volumes/**"] },
  "kubelet/server": { knows: [...API, "host/**", "client", "kubelet", ...KUBELET_CONTRACTS] },
  proxy: { knows: [...API, "host/**", "client"] },
  "proxy/appliers": { knows: [...API, "host/**", "proxy"] },
  "proxy/engine": { knows: [...API, "host/**", "client", "proxy", "proxy/appliers"] },
  dns: { knows: [...API, "host/**", "client"] },
  "dns/plugins": { knows: [...API, "host/**", "client", "dns"] },
  networkpolicy: { knows: [...API, "host/**", "client"] },
  podnetwork: { knows: [...API, "host/**", "client"] },
  ingress: { knows: [...API, "host/**", "client"] },
  // The provisioner is pure over the contract of its storage; the storage of simulated nodes needs no machine.
  "csi/sidecars": { knows: [...API, "client", "controllers/runtime", "csi"] },
  localpath: { knows: [...API, "client", "controllers/runtime"] },
  "localpath/disk": { knows: [...API, "host/**", "localpath"] },
  // What pages show, from any driver of their connection. Pure, so that it runs in a browser and on a cluster in the same tab.
  "dashboard/data": { knows: ["base", "api/machinery", "explain", "apiserver/framework"] },
  // The pages. The folder of the browser's globals is their only access to it.
  "dashboard/web/page": {
    knows: ["base", "api/machinery", "dashboard/data"],
    packages: ["@xterm", "@codemirror", "@lezer"],
  },
  "dashboard/web": { knows: ["base", "api/machinery", "explain", "dashboard/data", "dashboard/web/page"], packages: ["preact"] },
  // Tests of all of it, on the real API server.
  dashboard: { knows: [...API, "host/**", "store/**", "apiserver/**"] },
  "dashboard/server": { knows: [...API, "host/**", "apiserver/framework", "dashboard/data"] },
  "cli/framework": { knows: [...API, "host/**"] },
  pki: { knows: [...API, "host/**"], node: true },
  processes: { knows: ["base", "host/**"] },
  config: { knows: [...COMPONENTS, "cli/framework", "pki"], node: true },
  "cluster/home": { knows: [...API, "host/**", "cli/framework"], node: true },
  components: { knows: [...COMPONENTS, "cli/framework", "pki", "config", "cluster/home", "processes"], node: true },
  embedded: { knows: [...COMPONENTS, "cli/framework", "pki", "config", "components"], node: true },
  // Reads a cluster for `k8ts why`, and tries remedies on a copy of it.
  "explain/live": { knows: [...COMPONENTS, "cli/framework", "embedded"] },
  // A cluster inside a page. What it uses of components and embedded reaches no module of Node, or its bundle cannot be built.
  "browser/cluster": { knows: [...COMPONENTS.filter((room) => !room.startsWith("host")), "components", "embedded", "explain/live"] },
  // The event loop of a browser.
  "browser/host": { knows: [] },
  // A prompt like kubectl, and lessons with checks: over any connection.
  "browser/prompt": {
    knows: [...API, "explain", "client", "components", "embedded", "explain/live", "dashboard/data", "browser/cluster"],
  },
  "browser/lessons": { knows: [...API, "dashboard/data", "browser/prompt"] },
  "browser/web/page": { knows: ["base", "api/machinery", "dashboard/data", "dashboard/web/page"] },
  "browser/web": {
    knows: [
      ...["base", "api/machinery", "dashboard/data", "dashboard/web", "dashboard/web/page"],
      ...["browser/host", "browser/cluster", "browser/prompt", "browser/lessons", "browser/web/page"],
    ],
    packages: ["preact"],
  },
  // What a site imports: k8ts/browser. Tests of all of it.
  browser: { knows: [...API, "client", "host/**", "components", "embedded", "dashboard/data", "browser/**"] },
  testcontrol: { knows: [...COMPONENTS, "cli/framework", "pki", "config", "components", "embedded"], node: true },
  cluster: {
    knows: [...COMPONENTS, "cli/framework", "pki", "config", "cluster/home", "components", "processes", "testcontrol"],
    node: true,
  },
  cli: { knows: [...COMPONENTS, "cli/framework", "config", "cluster/home", "components", "cluster", "explain/live"], node: true },
  main: { knows: "all", node: true },
  testing: { knows: "all", node: true, packages: ["fast-check", "@kubernetes/client-node", "playwright-core", "axe-core"] },
};

/** Rooms whose children must not import each other: they interact only through API objects or a contract. `all.ts` imports each. */
const STRANGERS = [
  "controllers",
  "scheduler/plugins",
  "dns/plugins",
  "kubelet/runtime",
  "kubelet/volumes",
  "cli/commands",
  "apiserver/admission",
  "apiserver/documents",
  "apiserver/resources",
];

/** The same, except that the children share these files of the room. */
const STRANGERS_SHARING: Readonly<Record<string, readonly string[]>> = {
  "apiserver/bootstrap": ["bootstrap.ts", "post-start-hooks.ts", "kubernetes-endpoints.ts", "policy/grants.ts"],
  "apiserver/connections": ["kubelet.ts", "named-port.ts", "read.ts"],
};

/** The same for the folders of these rooms; the files directly in the room are shared by its folders. */
const STRANGER_FOLDERS = ["apiserver/authentication", "apiserver/authorization", "proxy/appliers"];

/** Modules that tests of any room may import. */
const TEST_MODULES = ["node:test", "node:assert", "node:assert/strict", "fast-check"];

/** One sentence per forbidden import, and per file in no room, with its file and line. */
export function layerViolations(sources: Iterable<Source>): string[] {
  return [...sources].flatMap((source) => {
    const { path } = source;
    const from = withinSrc(path);
    const room = from === undefined ? undefined : roomOf(from);
    if (from === undefined || room === undefined) return [`${path}:1: is in no room; tools/layers.ts has the list`];
    return importsOf(source).flatMap((found) => {
      const wrong = wrongWith(path, from, room, found);
      return wrong === undefined ? [] : [`${path}:${found.line}: ${wrong}`];
    });
  });
}

/** Gives a script that esbuild has bundled its require; the sources of the script are checked like all others. */
const MAY_CREATE_REQUIRE = "src/host/processes/cached-script.ts";

function wrongWith(file: string, from: string, room: string, { how, specifier }: Import): string | undefined {
  if (how === "require" && file === MAY_CREATE_REQUIRE) return undefined;
  if (how === "require") return `uses require, which hides what it imports; use import`;
  if (specifier === undefined) return `imports something computed; write the name as a literal so that it can be checked`;
  if (specifier.startsWith(".")) return wrongWithFile(file, from, room, posix.join(posix.dirname(file), specifier));
  return mayUseModule(file, room, specifier) ? undefined : `imports ${specifier}: ${room} ${modulesOf(file, room)}`;
}

function wrongWithFile(file: string, from: string, room: string, target: string): string | undefined {
  const to = withinSrc(target);
  if (to === undefined) return `imports ${target}, which is outside src/`;
  const other = roomOf(to);
  if (other === undefined) return `imports ${to}, which is in no room; tools/layers.ts has the list`;
  if (!isTestCode(file) && room !== "testing" && (isTestCode(target) || other === "testing"))
    return `imports ${to}: only tests may import test code`;
  // A test may import rooms inside its own: the store's own rules are tested on the memory driver.
  if (isTestCode(file) && (other === "testing" || isIn(room, to))) return undefined;
  // A test may also import what an enclosing room may: plugins of the API server are tested on the real engine.
  if (!mayKnow(room, other) && !(isTestCode(file) && enclosingRooms(room).some((around) => mayKnow(around, other))))
    return `imports ${to}: ${room} may import ${roomsOf(room)}`;
  const parent =
    STRANGERS.find((strangers) => areStrangers(strangers, from, to)) ??
    Object.entries(STRANGERS_SHARING).find(([strangers, shared]) => areStrangersSharing(strangers, shared, from, to))?.[0] ??
    STRANGER_FOLDERS.find((strangers) => isInFolderOf(strangers, from) && isInFolderOf(strangers, to) && areStrangers(strangers, from, to));
  return parent === undefined ? undefined : `imports ${to}: the children of ${parent} must not import each other`;
}

function mayKnow(room: string, other: string): boolean {
  const knows = ROOMS[room]?.knows ?? [];
  return room === other || knows === "all" || knows.some((known) => covers(known, other));
}

/** Whether an entry of `knows` is this room: its name, or "x/**" for x and every room in it. */
function covers(known: string, room: string): boolean {
  return (
    known === room || (known.endsWith("/**") && (room === known.slice(0, -"/**".length) || room.startsWith(known.slice(0, -"**".length))))
  );
}

/** True if it can run under virtual time and in a browser: it imports neither node: modules nor host. */
export function isPure(room: string): boolean {
  const { knows = [], node } = ROOMS[room] ?? {};
  return node !== true && knows !== "all" && !knows.some((known) => isIn("host", known));
}

function mayUseModule(file: string, room: string, specifier: string): boolean {
  const { node, packages = [] } = ROOMS[room] ?? {};
  if (isTestCode(file) && TEST_MODULES.includes(specifier)) return true;
  if (specifier.startsWith("node:")) return node === true || isOwnTestCode(file, room);
  // "lmdb/index.js" is of the package "lmdb", "@grpc/grpc-js/build" of "@grpc/grpc-js".
  return packages.some((name) => specifier === name || specifier.startsWith(`${name}/`));
}

/** Test code that runs in its own process, or is imported only by such tests. */
function isOwnTestCode(file: string, room: string): boolean {
  return file.endsWith(".own.test.ts") || (isTestCode(file) && !file.endsWith(".test.ts") && !isPure(room));
}

/** Children of a room of strangers: other folders in it, or, where each child is one file, other files. */
function areStrangers(parent: string, from: string, to: string): boolean {
  if (!isIn(parent, from) || !isIn(parent, to) || from === `${parent}/all.ts`) return false;
  return roomOf(to) === roomOf(from) && childOf(parent, from) !== childOf(parent, to);
}

/** True as well for a shared file that imports a child: the shared files import only each other. */
function areStrangersSharing(parent: string, shared: readonly string[], from: string, to: string): boolean {
  return areStrangers(parent, from, to) && !shared.includes(to.slice(parent.length + 1));
}

function isInFolderOf(room: string, path: string): boolean {
  return isIn(room, path) && path.slice(room.length + 1).includes("/");
}

/** "deployment" of ("controllers", "controllers/deployment/plan.ts"); a test belongs to the file it tests. */
function childOf(parent: string, path: string): string | undefined {
  return path
    .slice(parent.length + 1)
    .replace(/(\.own)?\.test\.ts$/, ".ts")
    .split("/")[0];
}

/** The part after "src/"; undefined outside of it. */
function withinSrc(path: string): string | undefined {
  return isIn("src", path) ? path.slice("src/".length) : undefined;
}

/** The room of "store/memory/memory-store.ts". */
export function roomOf(path: string): string | undefined {
  return ROOM_NAMES.find((room) => isIn(room, path));
}

/** "apiserver" of "apiserver/admission". */
function enclosingRooms(room: string): readonly string[] {
  return ROOM_NAMES.filter((other) => isIn(other, room));
}

/** Longest first, so that the first match is the most specific. */
const ROOM_NAMES = Object.keys(ROOMS).sort((a, b) => b.length - a.length);

export function isIn(room: string, path: string): boolean {
  return path.startsWith(`${room}/`);
}

function roomsOf(room: string): string {
  const knows = ROOMS[room]?.knows ?? [];
  return knows === "all" ? "all rooms" : knows.join(", ") || "no other room";
}

function modulesOf(file: string, room: string): string {
  const { node, packages = [] } = ROOMS[room] ?? {};
  const names = [...(node === true || isOwnTestCode(file, room) ? ["node:*"] : []), ...packages, ...(isTestCode(file) ? TEST_MODULES : [])];
  return names.length === 0 ? "may import nothing from outside" : `may import ${names.join(", ")} from outside`;
}
