/** `--read-workers`: reads on all connections are as consistent as those of one process, and the death of any process loses nothing. */
import { deepEqual, equal, match } from "node:assert/strict";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { findProcesses, type ProcessEntry } from "../../host/processes/process-table.ts";
import { becomes } from "../../testing/becomes.ts";
import { ApiServerProcess, type HttpsClient } from "../../testing/servers/api-server-process.ts";

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";

interface Started {
  readonly server: ApiServerProcess;
  workers(): Promise<readonly ProcessEntry[]>;
}

async function withWorkers(count: number, run: (started: Started) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "k8ts-read-workers-"));
  const flags = [`--data-dir=${join(directory, "data")}`, `--read-workers=${count}`];
  const server = new ApiServerProcess({ directory, flags });
  try {
    await server.start();
    await run({ server, workers: () => workersOf(server.pid) });
  } finally {
    await server.kill();
    await rm(directory, { recursive: true });
  }
}

async function workersOf(parent: number): Promise<readonly ProcessEntry[]> {
  const found = await findProcesses((words) => words.includes("read-worker"));
  const parents = await Promise.all(found.map(({ pid }) => readFile(`/proc/${pid}/stat`, "utf8").catch(() => "")));
  return found.filter((_, index) => Number(parents[index]?.split(") ")[1]?.split(" ")[1]) === parent);
}

interface Read {
  readonly metadata: { readonly resourceVersion: string };
  readonly data?: Readonly<Record<string, string>>;
  readonly items?: readonly Read[];
}

async function read(client: HttpsClient, path: string): Promise<Read> {
  const { code, body } = await client.ask("GET", path);
  equal(code, 200, body);
  return JSON.parse(body) as Read;
}

test("read workers: each connection reads every write that was acknowledged before, by name, in lists and in pages", () =>
  withWorkers(2, async ({ server, workers }) => {
    equal((await workers()).length, 2);
    const clients = Array.from({ length: 5 }, () => server.client());
    const [writer, ...readers] = clients as [HttpsClient, ...HttpsClient[]];
    equal((await writer.ask("POST", CONFIG_MAPS, { metadata: { name: "a" }, data: {} })).code, 201);
    for (let round = 0; round < 40; round++) {
      const { code, body } = await writer.ask("PATCH", `${CONFIG_MAPS}/a`, { data: { round: String(round) } });
      equal(code, 200, body);
      const written = (JSON.parse(body) as Read).metadata.resourceVersion;

      const seen = await Promise.all(
        readers.flatMap((reader) => [
          read(reader, `${CONFIG_MAPS}/a`).then(({ metadata }) => metadata.resourceVersion),
          ...["", "?limit=500"].map(async (query) => {
            const { items = [] } = await read(reader, `${CONFIG_MAPS}${query}`);
            return items.find(({ data }) => data?.["round"] !== undefined)?.metadata.resourceVersion;
          }),
        ]),
      );

      deepEqual(new Set(seen), new Set([written]));
    }
    for (const client of clients) client[Symbol.dispose]();
  }));

test("read workers: a watch delivers the writes of all connections once and in order", () =>
  withWorkers(2, async ({ server }) => {
    using one = server.client();
    using other = server.client();
    const revisions: number[] = [];
    const watched: number[] = [];
    const { metadata } = await read(one, CONFIG_MAPS);
    const watching = (async () => {
      for await (const line of one.stream(`${CONFIG_MAPS}?watch=1&resourceVersion=${metadata.resourceVersion}`)) {
        const { object } = JSON.parse(line) as { readonly object: Read & { readonly metadata: { readonly name: string } } };
        if (object.metadata.name.startsWith("w")) watched.push(Number(object.metadata.resourceVersion));
        if (watched.length === 60) return;
      }
    })();
    await Promise.all(
      Array.from({ length: 60 }, async (_, index) => {
        const { body } = await (index % 2 === 0 ? one : other).ask("POST", CONFIG_MAPS, { metadata: { name: `w${index}` } });
        revisions.push(Number((JSON.parse(body) as Read).metadata.resourceVersion));
      }),
    );
    await watching;
    deepEqual(watched, revisions.sort((a, b) => a - b)); // prettier-ignore
  }));

test("read workers: refusals, documents and reviews are answered by the main process, which records them", () =>
  withWorkers(1, async ({ server }) => {
    using client = server.client();
    const missing = await client.ask("GET", `${CONFIG_MAPS}/none`);
    deepEqual([missing.code, (JSON.parse(missing.body) as { message: string }).message], [404, 'configmaps "none" not found']);
    equal((await client.ask("GET", "/apis/none.example/v1/things")).code, 404);
    equal((await client.ask("DELETE", "/api/v1")).code, 405);
    match((await client.ask("GET", "/metrics")).body, /^apiserver_request_total\{.*code="404"/m);
    match((await client.ask("GET", "/openapi/v2")).body, /^\{"swagger":"2.0"/);
    const review = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
    const { code, body } = await client.ask("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", review);
    deepEqual([code, /"username":"kubernetes-admin"/.test(body)], [201, true]);
    const large = await client.ask("POST", CONFIG_MAPS, { metadata: { name: "large" }, data: { text: "x".repeat(4_000_000) } });
    deepEqual([large.code, (JSON.parse(large.body) as { reason: string }).reason], [413, "RequestEntityTooLarge"]);
    match((await client.ask("GET", "/debug/k8ts/causes")).body, /"items":\[/);
  }));

test("read workers: a custom resource is served by all processes as soon as its definition is established", () =>
  withWorkers(2, async ({ server }) => {
    const clients = Array.from({ length: 4 }, () => server.client());
    const [writer] = clients as [HttpsClient, ...HttpsClient[]];
    const names = { plural: "things", singular: "thing", kind: "Thing", listKind: "ThingList" };
    const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
    const versions = [{ name: "v1", served: true, storage: true, schema }];
    const spec = { group: "example.com", scope: "Namespaced", names, versions };
    const kind = { apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition" };
    const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    equal((await writer.ask("POST", definitions, { ...kind, metadata: { name: "things.example.com" }, spec })).code, 201);
    const things = "/apis/example.com/v1/namespaces/default/things";
    await becomes(async () => (await writer.ask("GET", things)).code, 200);
    const thing = { apiVersion: "example.com/v1", kind: "Thing", metadata: { name: "one" } };
    equal((await writer.ask("POST", things, thing)).code, 201);

    const found = await Promise.all(clients.map(async (client) => (await read(client, things)).items?.length));

    deepEqual(found, [1, 1, 1, 1]);
    for (const client of clients) client[Symbol.dispose]();
  }));

test("read workers: a killed one costs its own connections only, and is replaced", () =>
  withWorkers(2, async ({ server, workers }) => {
    using writer = server.client();
    await writer.ask("POST", CONFIG_MAPS, { metadata: { name: "before" } });
    const first = await workers();
    for (const { pid } of first) process.kill(pid, "SIGKILL");

    // By the main process, until a worker is ready again.
    using client = server.client();
    await becomes(async () => client.ask("GET", `${CONFIG_MAPS}/before`).then(({ code }) => code, () => 0), 200); // prettier-ignore
    await becomes(async () => (await workers()).filter(({ pid }) => first.every((old) => old.pid !== pid)).length, 2);
    using later = server.client();
    equal((await later.ask("POST", CONFIG_MAPS, { metadata: { name: "after" } })).code, 201);
    equal((await later.ask("GET", `${CONFIG_MAPS}/after`)).code, 200);
  }));

test("read workers: end with the main process, whether it is stopped or killed, and leave no files", () =>
  withWorkers(2, async ({ server, workers }) => {
    const killed = server.pid;
    equal((await socketDirectories(killed)).length, 1);
    const first = await workers();
    await server.kill();
    await becomes(async () => (await alive(first)).length, 0);
    await server.start();
    deepEqual(await socketDirectories(killed), []);
    const second = await workers();
    equal(second.length, 2);
    equal(await server.stop(), 0);
    deepEqual([await alive(second), await socketDirectories(server.pid)], [[], []]);
  }));

async function alive(processes: readonly ProcessEntry[]): Promise<readonly number[]> {
  const running = await findProcesses((words) => words.includes("read-worker"));
  return processes.filter(({ pid }) => running.some((each) => each.pid === pid)).map(({ pid }) => pid);
}

/** Their names contain the process that created them. */
async function socketDirectories(pid: number): Promise<readonly string[]> {
  return (await readdir(tmpdir())).filter((name) => name.startsWith("k8ts-reads-") && name.includes(`-${pid}-`));
}
