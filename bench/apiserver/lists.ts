/**
 * Lists 10,000 Pods, unpaged and in pages of 500, measured with curl, since a Node client would itself be the bottleneck. Baseline: the
 * same bytes from a bare Node server.
 */
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { Disposables } from "../../src/base/disposables.ts";
import type { Benchmark } from "../benchmark.ts";
import { startChild } from "../child.ts";
import { figureOf } from "../figure.ts";
import type { LoadTasks } from "./load-child.ts";
import type { StartedServer } from "./server-child.ts";
import { startServer } from "./start-server.ts";

const PODS = 10_000;
const PAGE = 500;

/** Upstream needs 703 ms for 41 MB on such a machine. */
const LIST_MS_MAX = 80;

const run = promisify(execFile);

export const apiserverLists: Benchmark = {
  name: "apiserver/lists",
  measures: "LIST of 10,000 Pods, unpaged and in pages of 500, by curl; baseline: a bare Node server with the same bytes",
  async *run(context) {
    await using children = new Disposables();
    const load = children.use(startChild<LoadTasks>(import.meta.url, "load-child", context.signal));
    const k8ts = children.use(startServer(context.signal));
    const bareChild = children.use(startServer(context.signal));
    const started = await k8ts.call("startK8ts", { directory: context.directory, store: "embedded" });
    await load.call("fill", { ...started, count: PODS, kind: "pods" });
    const server = await askedBy(started, context.directory);
    const { bytes } = await curl(server, "/api/v1/pods");
    const bareServer = { directory: context.directory, protocol: "http1", bodyBytes: bytes, durable: false } as const;
    const bare = await askedBy(await bareChild.call("startBare", bareServer), context.directory);
    context.note(`the list has ${(bytes / 1e6).toFixed(1)} MB`);
    const whole = await context.rounds.measure({
      k8ts: async () => (await curl(server, "/api/v1/pods")).ms,
      bare: async () => (await curl(bare, "/")).ms,
    });
    yield figureOf({ name: "apiserver/lists-10000-pods", unit: "ms", values: whole.k8ts, budget: { atMost: LIST_MS_MAX } });
    yield figureOf({ name: "apiserver/lists-10000-pods-beside-bare", unit: "ms", values: whole.k8ts, baselines: whole.bare });
    const paged = await context.rounds.measure({ k8ts: () => listInPages(server) }, 3);
    yield figureOf({ name: "apiserver/lists-10000-pods-in-pages-of-500", unit: "ms", values: paged.k8ts });
  },
};

interface Asked {
  readonly port: number;
  /** Arguments that make curl present a client certificate, which it reads from files. */
  readonly shown: readonly string[];
}

async function askedBy({ port, credentials }: StartedServer, directory: string): Promise<Asked> {
  const { cert, key } = credentials;
  if (cert === undefined || key === undefined) return { port, shown: [] };
  const files = { cert: join(directory, "client.crt"), key: join(directory, "client.key") };
  await writeFile(files.cert, cert, { mode: 0o600 });
  await writeFile(files.key, key, { mode: 0o600 });
  return { port, shown: ["--cert", files.cert, "--key", files.key] };
}

async function curl({ port, shown }: Asked, path: string): Promise<{ readonly ms: number; readonly bytes: number }> {
  const { stdout } = await run("curl", [
    ...["-sk", "--http1.1", "-o", "/dev/null", "-w", "%{http_code} %{size_download} %{time_appconnect} %{time_total}"],
    ...[...shown, `https://127.0.0.1:${port}${path}`],
  ]);
  const [code, bytes = 0, connected = 0, total = 0] = stdout.split(" ").map(Number);
  if (code !== 200) throw new Error(`Cannot list Pods: the server returned ${code}`);
  return { ms: (total - connected) * 1_000, bytes };
}

/** One process for all pages, since each continue token comes with the previous page: only the requests are timed. */
async function listInPages({ port, shown }: Asked): Promise<number> {
  let ms = 0;
  let after = "";
  let items = 0;
  do {
    const { stdout } = await run(
      "curl",
      [
        ...["-sk", "--http1.1", "-w", "\n%{time_appconnect} %{time_total}", ...shown],
        `https://127.0.0.1:${port}/api/v1/pods?limit=${PAGE}${after === "" ? "" : `&continue=${after}`}`,
      ],
      { maxBuffer: 64 * 1024 * 1024 },
    );
    const cut = stdout.lastIndexOf("\n");
    const [connected = 0, total = 0] = stdout
      .slice(cut + 1)
      .split(" ")
      .map(Number);
    ms += (total - connected) * 1_000;
    after = /"continue":"([^"]*)"/.exec(stdout.slice(0, 400))?.[1] ?? "";
    items += stdout.split('{"metadata":{"resourceVersion"').length - 1;
  } while (after !== "");
  if (items < PODS) throw new Error(`Cannot list Pods in pages: ${items} of ${PODS} objects were returned`);
  return ms;
}
