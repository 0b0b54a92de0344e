import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:net";
import { test } from "node:test";
import { startProgram, type Program } from "../../host/processes/child-process.ts";
import { startTestApiServer, type TestApiServer } from "../../testing/servers/api-server.ts";
import { elect } from "./elect.ts";
import { LAUNCHER } from "../../testing/servers/launcher.ts";

const LEASES_PATH = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
const LEASE_PATH = `${LEASES_PATH}/web`;
/** Long enough that a test fails if it waits for expiry. */
const LONG = ["--lease-duration=120s", "--renew-deadline=60s", "--retry-period=1s"];
const SHORT_LEASE_MS = 10_000;
/** Long enough to be renewed in time on a busy machine. */
const SHORT = [`--lease-duration=${SHORT_LEASE_MS}ms`, "--renew-deadline=8s", "--retry-period=500ms"];
/** The command has 6 s when the lease is lost, within which it says something on a busy machine, too. */
const LOSING = ["--lease-duration=12s", "--renew-deadline=4s", "--retry-period=500ms", "--grace-period=6s"];
/** A program that prints its start and SIGTERM, and exits only if `obeys`. */
const worker = (obeys: boolean): string[] => [
  "--",
  process.execPath,
  "-e",
  `process.on("SIGTERM", () => { console.log("SIGTERM received"); ${obeys ? "setTimeout(() => process.exit(0), 100)" : ""} });
  setInterval(() => {}, 1000); console.log("work begins")`,
];

/** One `k8ts elect`, as a user starts it. */
class Sidecar implements AsyncDisposable {
  readonly lines: string[] = [];
  #program: Program | undefined;
  #onLine = (): void => undefined;

  static async start(server: TestApiServer, id: string, more: readonly string[]): Promise<Sidecar> {
    const sidecar = new Sidecar();
    const flags = [`--kubeconfig=${server.kubeconfig}`, "--lease-name=web", "--lease-namespace=default", `--id=${id}`];
    sidecar.#program = await startProgram({
      command: process.execPath,
      arguments: [LAUNCHER, "elect", ...flags, ...more],
      onLine: (line) => {
        sidecar.lines.push(line);
        sidecar.#onLine();
      },
    });
    return sidecar;
  }

  /** Resolves when it has said so, at any time. */
  async says(text: string): Promise<string> {
    for (;;) {
      const found = this.lines.find((line) => line.includes(text));
      if (found !== undefined) return found;
      await new Promise<void>((resolve, reject) => {
        this.#onLine = resolve;
        void this.program.exited.then(() => reject(new Error(`It ended without ${text}: ${this.lines.join("\n")}`)));
      });
    }
  }

  get program(): Program {
    assert.ok(this.#program !== undefined);
    return this.#program;
  }

  /** GET on its address. */
  async ask(path: string): Promise<string> {
    const address = (await this.says("listening on ")).slice("listening on ".length);
    // One that is kept may be closed by the server just as it is reused.
    const response = await fetch(address + path, { headers: { connection: "close" } });
    return `${response.status} ${await response.text()}`;
  }

  /** Not by SIGKILL, after which its command would run on. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.program.signal("SIGTERM");
    await this.program.exited;
  }
}

interface ShownLease {
  readonly metadata: { readonly resourceVersion: string };
  readonly spec: {
    readonly holderIdentity: string;
    readonly acquireTime: string;
    readonly renewTime: string;
    readonly leaseTransitions: number;
  };
}

async function leaseOf(server: TestApiServer): Promise<ShownLease> {
  return JSON.parse((await server.ask("GET", LEASE_PATH)).body) as ShownLease;
}

async function holderOf(server: TestApiServer): Promise<string> {
  return (await leaseOf(server)).spec.holderIdentity;
}

/** All that it became after that, in order. */
async function changesSince(server: TestApiServer, { metadata: { resourceVersion } }: ShownLease): Promise<readonly ShownLease[]> {
  const { body } = await server.ask("GET", `${LEASES_PATH}?watch=true&timeoutSeconds=3&resourceVersion=${resourceVersion}`);
  const changes = body.trim().split("\n");
  return changes.map((line) => (JSON.parse(line) as { readonly object: ShownLease }).object);
}

/** Again if it was renewed in between. */
async function steal(server: TestApiServer): Promise<void> {
  const lease = await leaseOf(server);
  const { code } = await server.ask("PUT", LEASE_PATH, { ...lease, spec: { ...lease.spec, holderIdentity: "thief" } });
  if (code === 409) return steal(server);
  assert.equal(code, 200);
}

const HTTP = "--http-address=127.0.0.1:0";

test("of two sidecars one becomes the leader and both print it; a graceful stop hands over immediately, and the last one releases the lease", async () => {
  await using server = await startTestApiServer();
  await using a = await Sidecar.start(server, "a", [...LONG, HTTP]);
  await a.says("a became the leader");
  await using b = await Sidecar.start(server, "b", [...LONG, HTTP]);
  await b.says("a is the leader");

  assert.equal(await a.ask("/"), '200 {"name":"a","isLeader":true}');
  assert.equal(await b.ask("/"), '200 {"name":"a","isLeader":false}');
  assert.equal(await b.ask("/healthz"), "200 ok");
  assert.equal(await b.ask("/other"), "404 Not found; the paths are / and /healthz\n");

  a.program.signal("SIGTERM");
  await b.says("b became the leader");
  assert.deepEqual(await a.program.exited, { code: 0, signal: null });
  assert.equal(await b.ask("/"), '200 {"name":"b","isLeader":true}');

  b.program.signal("SIGINT");
  assert.deepEqual(await b.program.exited, { code: 0, signal: null });
  assert.equal(await holderOf(server), "");
});

test("when the leader is killed the other becomes the leader after the lease duration", async () => {
  await using server = await startTestApiServer();
  await using a = await Sidecar.start(server, "a", [...SHORT, HTTP]);
  await a.says("a became the leader");
  const began = await leaseOf(server);
  await using b = await Sidecar.start(server, "b", [...SHORT, HTTP]);
  await b.says("a is the leader");

  a.program.signal("SIGKILL");
  await b.says("b became the leader");

  const claims = [began, ...(await changesSince(server, began))];
  const taken = claims.findIndex(({ spec }) => spec.holderIdentity === "b");
  const [last, first] = [claims[taken - 1]?.spec, claims[taken]?.spec];
  assert.deepEqual([last?.holderIdentity, first?.leaseTransitions], ["a", 1]);
  const unrenewedMs = Date.parse(first?.acquireTime ?? "") - Date.parse(last?.renewTime ?? "");
  assert.ok(unrenewedMs >= SHORT_LEASE_MS, `By its own times the lease was taken ${unrenewedMs} ms after it was last renewed`);
});

test("a command runs only on the leader, and is terminated before the lease is released", async () => {
  await using server = await startTestApiServer();
  await using a = await Sidecar.start(server, "a", [...LONG, ...worker(true)]);
  await a.says("work begins");
  await using b = await Sidecar.start(server, "b", [...LONG, ...worker(true)]);
  await b.says("a is the leader");
  assert.equal(b.lines.includes("work begins"), false);

  a.program.signal("SIGTERM");
  await b.says("work begins");

  assert.deepEqual(await a.program.exited, { code: 0, signal: null });
  assert.deepEqual(a.lines, ["a became the leader", "work begins", "SIGTERM received", "a is no longer the leader"]);
});

test("a command that exits by itself ends the sidecar with its exit code, and the lease is released", async () => {
  await using server = await startTestApiServer();
  await using a = await Sidecar.start(server, "a", [...LONG, "--", process.execPath, "-e", "process.exit(7)"]);

  assert.deepEqual(await a.program.exited, { code: 7, signal: null });
  assert.equal(await holderOf(server), "");

  await using b = await Sidecar.start(server, "b", [...LONG, "--", "/no/such/program"]);
  assert.deepEqual(await b.program.exited, { code: 1, signal: null });
  assert.match(b.lines.join("\n"), /Error: Cannot start \/no\/such\/program/);
});

test("a command that does not exit when the lease is lost is killed, and the sidecar is a candidate again", async () => {
  await using server = await startTestApiServer();
  await using a = await Sidecar.start(server, "a", [...LOSING, ...worker(false)]);
  await a.says("work begins");

  await steal(server);
  await a.says("a is no longer the leader");

  assert.ok(a.lines.includes("SIGTERM received"));
  // The thief never renews.
  a.lines.length = 0;
  await a.says("work begins");
});

test("an address in use is reported before leader election starts", async () => {
  await using server = await startTestApiServer();
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  const { port } = taken.address() as { readonly port: number };
  await using a = await Sidecar.start(server, "a", [...LONG, `--http-address=127.0.0.1:${port}`]);

  assert.deepEqual(await a.program.exited, { code: 1, signal: null });
  assert.match(a.lines.join("\n"), new RegExp(`Cannot listen on 127.0.0.1:${port}`));
  assert.equal((await server.ask("GET", LEASE_PATH)).code, 404);
  taken.close();
});

test("all problems of the flags are reported at once; everything after -- is the command", () => {
  const refused = elect.parse(["--lease-duration=5s", "--http-address=somewhere", "--"], {});
  assert.deepEqual(refused.ok || refused.problems, [
    '--http-address must be an address such as 127.0.0.1:4040, is "somewhere"',
    "--lease-name is missing: NAME",
    "--lease-duration must be greater than --renew-deadline (10000), is 5000 (in ms)",
    "No command is given after --; add one, or leave -- out",
  ]);
  const taken = elect.parse(["--lease-name", "web", "--", "worker", "--help", "--", "-x"], {});
  assert.deepEqual(taken.ok && taken.options.command, ["worker", "--help", "--", "-x"]);
});
