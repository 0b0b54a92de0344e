/**
 * Real etcd for tests: one member or three, with or without TLS, on free loopback ports, with their data in a directory that is removed
 * with the test. Members can be killed (SIGKILL), stopped (SIGSTOP) and restarted on their data. fsync stays on: acknowledged writes are on
 * disk.
 */
import { rmSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Disposables } from "../../base/disposables.ts";
import { decode, encode } from "../../base/protobuf/messages.ts";
import { runProgram, startProgram, type Program } from "../../host/processes/child-process.ts";
import { openGrpcChannel, type GrpcTls } from "../../host/grpc/channel.ts";
import { realClock } from "../../host/real-clock.ts";
import { STATUS, type StatusResponse } from "../../store/etcd/etcd-messages.ts";
import { freePorts } from "./free-ports.ts";
import { toolPath } from "../needs.ts";

export interface EtcdServerOptions {
  /** Default: 1. */
  readonly members?: 1 | 3;
  /** Mutual TLS. Default: plaintext. */
  readonly secure?: boolean;
  /** Database size at which etcd raises its NOSPACE alarm. Default: 2 GB. */
  readonly quotaBytes?: number;
}

export interface EtcdServer extends AsyncDisposable {
  /** One per member, in order. */
  readonly endpoints: readonly string[];
  readonly ports: readonly number[];
  /** What a client needs for TLS. */
  readonly tls: Required<Pick<GrpcTls, "ca" | "certificate" | "key">> | undefined;
  /** SIGKILL; resolves when the process has exited. */
  kill(member?: number): Promise<void>;
  /** SIGSTOP: connections stay open, nothing is answered. */
  freeze(member?: number): void;
  thaw(member?: number): void;
  /** Restarts a killed member on its data; resolves when it serves clients. */
  restart(member?: number): Promise<void>;
  /** Index of the current leader; undefined if no member reports one. */
  leader(): Promise<number | undefined>;
}

export async function startEtcd(options: EtcdServerOptions = {}): Promise<EtcdServer> {
  const { members: count = 1, secure = false } = options;
  const owned = new Disposables();
  const directory = await mkdtemp(join(tmpdir(), "k8ts-etcd-"));
  owned.defer(removeAlsoAtExit(directory));
  const certificates = secure ? await makeCertificates(directory) : undefined;
  const scheme = secure ? "https" : "http";
  const ports = await freePorts(count * 2);
  const addresses = Array.from({ length: count }, (_, index) => ({
    name: `member${index}`,
    client: `${scheme}://127.0.0.1:${ports[index]}`,
    peer: `http://127.0.0.1:${ports[count + index]}`,
  }));
  const cluster = addresses.map(({ name, peer }) => `${name}=${peer}`).join(",");
  const members = addresses.map((address) => new Member(memberArguments({ ...address, cluster, directory, options })));
  for (const member of members) owned.use(member);
  await Promise.all(members.map((member) => member.start()));
  const tls = certificates;
  return {
    endpoints: addresses.map(({ client }) => client),
    ports: ports.slice(0, count),
    tls,
    kill: (index = 0) => at(members, index).kill(),
    freeze: (index = 0) => at(members, index).signal("SIGSTOP"),
    thaw: (index = 0) => at(members, index).signal("SIGCONT"),
    restart: (index = 0) => at(members, index).start(),
    leader: () => findLeader(ports.slice(0, count), tls),
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}

/** Returns a function that removes the directory; it is also removed when the process exits. */
function removeAlsoAtExit(directory: string): () => Promise<void> {
  const removeNow = () => rmSync(directory, { recursive: true, force: true });
  process.once("exit", removeNow);
  exitOnSigterm();
  return async () => {
    process.removeListener("exit", removeNow);
    await rm(directory, { recursive: true, force: true });
  };
}

/** A test that times out receives SIGTERM, on which Node would exit without cleanup. */
function exitOnSigterm(): void {
  if (process.listenerCount("SIGTERM") === 0) process.once("SIGTERM", () => process.exit(143));
}

function memberArguments(member: {
  readonly name: string;
  readonly client: string;
  readonly peer: string;
  readonly cluster: string;
  readonly directory: string;
  readonly options: EtcdServerOptions;
}): readonly string[] {
  const { name, client, peer, cluster, directory, options } = member;
  // A single member has no peers to wait for; three need the default timeouts, or a busy machine causes constant elections.
  const [heartbeatMs = 0, electionMs = 0] = options.members === 3 ? [100, 1_000] : [10, 100];
  const file = (name: string) => join(directory, name);
  const tls = {
    "cert-file": file("server.crt"),
    "key-file": file("server.key"),
    "client-cert-auth": true,
    "trusted-ca-file": file("ca.crt"),
  };
  const flags = {
    name,
    "data-dir": file(name),
    logger: "zap",
    "log-outputs": "stderr",
    "listen-client-urls": client,
    "advertise-client-urls": client,
    "listen-peer-urls": peer,
    "initial-advertise-peer-urls": peer,
    "initial-cluster": cluster,
    "heartbeat-interval": heartbeatMs,
    "election-timeout": electionMs,
    "quota-backend-bytes": options.quotaBytes ?? 0,
    ...(options.secure === true ? tls : {}),
  };
  return Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`);
}

class Member implements AsyncDisposable {
  readonly #arguments: readonly string[];
  #program: Program | undefined;

  constructor(programArguments: readonly string[]) {
    this.#arguments = programArguments;
  }

  /** Logged by all versions of etcd when it has a leader and serves requests. */
  async start(): Promise<void> {
    let onServing: () => void = () => undefined;
    const serving = new Promise<void>((resolve) => (onServing = resolve));
    const onLine = (line: string) => void (line.includes("serving client traffic") && onServing());
    const program = await startProgram({ command: toolPath("etcd"), arguments: this.#arguments, onLine });
    this.#program = program;
    const failed = program.exited.then(({ code, signal }) => {
      throw new Error(`Cannot start etcd: it exited with ${code ?? signal}: ${program.output.slice(-5).join("\n")}`);
    });
    await Promise.race([serving, failed]);
    failed.catch(() => undefined);
  }

  signal(signal: NodeJS.Signals): void {
    this.#program?.signal(signal);
  }

  async kill(): Promise<void> {
    await this.#program?.[Symbol.asyncDispose]();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.kill();
  }
}

/** A CA, a serving certificate for 127.0.0.1 and a client certificate, as files and, for clients, as bytes. */
export async function makeCertificates(directory: string): Promise<NonNullable<EtcdServer["tls"]>> {
  const file = (name: string) => join(directory, name);
  const always = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1"];
  const make = (name: string, ...more: string[]) => {
    const files = ["-subj", `/CN=${name}`, "-keyout", file(`${name}.key`), "-out", file(`${name}.crt`)];
    return runProgram({ command: toolPath("openssl"), arguments: [...always, ...files, ...more] });
  };
  const signed = ["-CA", file("ca.crt"), "-CAkey", file("ca.key"), "-addext", "basicConstraints=critical,CA:FALSE"];
  await make("ca");
  await make("server", ...signed, "-addext", "subjectAltName=IP:127.0.0.1,DNS:etcd.example");
  await make("client", ...signed, "-addext", "extendedKeyUsage=clientAuth");
  const [ca, certificate, key] = await Promise.all(["ca.crt", "client.crt", "client.key"].map((name) => readFile(file(name))));
  return { ca, certificate, key } as NonNullable<EtcdServer["tls"]>;
}

async function findLeader(ports: readonly number[], tls: GrpcTls | undefined): Promise<number | undefined> {
  const statuses = await Promise.all(ports.map((port) => statusOf(port, tls).catch(() => undefined)));
  const index = statuses.findIndex((status) => status !== undefined && status.leader !== 0n && status.leader === status.header?.memberId);
  return index === -1 ? undefined : index;
}

async function statusOf(port: number, tls: GrpcTls | undefined): Promise<StatusResponse> {
  const channel = await openGrpcChannel({ host: "127.0.0.1", port, tls, clock: realClock });
  try {
    return decode(STATUS.response, await channel.call(STATUS.path, encode(STATUS.request, {}), { timeoutMs: 2_000 }));
  } finally {
    channel.close();
  }
}

function at(members: readonly Member[], index: number): Member {
  const member = members[index];
  if (member === undefined) throw new RangeError(`Cannot find member ${index}: there are ${members.length}`);
  return member;
}
