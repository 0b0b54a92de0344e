/**
 * `k8ts envtest etcd`: what controller-runtime's envtest starts in place of etcd. It is healthy and holds nothing: the API server of
 * `k8ts envtest apiserver` keeps its objects in its own memory.
 */
import { listenOrExplain } from "../../../cluster/listen-or-explain.ts";
import { serveSmallPages, type SmallAnswer } from "../../../host/http/small-server.ts";
import { defineCommand, type Command, type Environment, type Io } from "../../framework/command.ts";
import type { Parsed } from "../../framework/flags.ts";
import { waitForStop } from "../../framework/wait-for-stop.ts";
import { STAND_IN_VERSION } from "./stand-in-version.ts";

interface Options {
  readonly host: string;
  readonly port: number;
}

const FLAG = "listen-client-urls";
/** As etcd. */
const DEFAULT_URL = "http://localhost:2379";

const withFlags = defineCommand({
  description:
    "Answer health checks with the command line of etcd, for controller-runtime's envtest; the executables that `k8ts envtest` writes call it. " +
    "Stores nothing: the API server that belongs to it keeps its objects in memory. Other flags of etcd are ignored.",
  flags: { [FLAG]: { type: "string", placeholder: "URL", default: DEFAULT_URL, doc: "Address to answer on." } },
  arguments: {},
  examples: ["k8ts envtest etcd --listen-client-urls=http://127.0.0.1:2379"],
  options: () => ({ ok: true, options: undefined }),
  run: () => Promise.resolve(),
});

export const envtestEtcd: Command<Options> = { ...withFlags, parse, run };

function parse(argv: readonly string[], _environment: Environment): Parsed<Options> {
  const at = argv.findIndex((word) => word.replace(/^--?/, "").split("=", 1)[0] === FLAG);
  const word = argv[at] ?? "";
  const given = at < 0 ? DEFAULT_URL : word.includes("=") ? word.slice(word.indexOf("=") + 1) : (argv[at + 1] ?? "");
  const [first = ""] = given.split(",");
  if (!URL.canParse(first) || !first.startsWith("http://"))
    return { ok: false, problems: [`--${FLAG} must be a URL such as ${DEFAULT_URL}, is ${JSON.stringify(given)}`] };
  const { hostname, port } = new URL(first);
  return { ok: true, options: { host: hostname.replace(/^\[|\]$/g, ""), port: Number(port === "" ? "80" : port) } };
}

async function run({ host, port }: Options, io: Io): Promise<void> {
  const place = { address: host, port, addressFlag: `--${FLAG}`, portFlag: `--${FLAG}` };
  await using _server = await listenOrExplain(place, io, () => serveSmallPages({ hosts: [host], port }, answer));
  await waitForStop(io);
}

function answer(path: string): SmallAnswer {
  const headers = { "content-type": "application/json" };
  if (path === "/health") return { code: 200, headers, text: JSON.stringify({ health: "true", reason: "" }) };
  if (path === "/version")
    return { code: 200, headers, text: JSON.stringify({ etcdserver: STAND_IN_VERSION, etcdcluster: STAND_IN_VERSION }) };
  return { code: 404, headers, text: JSON.stringify({ message: "k8ts keeps the objects in the API server; this process stores nothing" }) };
}
