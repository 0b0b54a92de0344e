/**
 * Requests through the ingress, beside a bare Node reverse proxy and nginx, in the same rounds: HTTP/1.1 with keep-alive, a small answer of
 * two endpoints. Proxies, endpoints and load are processes of their own.
 */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { Disposables } from "../../src/base/disposables.ts";
import type { Benchmark, BenchmarkContext } from "../benchmark.ts";
import { startChild } from "../child.ts";
import { figureOf } from "../figure.ts";
import type { LoadTasks, LoadResult } from "./ingress-load-child.ts";
import type { ProxyTasks } from "./ingress-proxy-child.ts";

const CONNECTIONS = 32;
const ROUND_MS = 2_000;

/** Routing, headers for the endpoint, metrics and retries may cost this much of a bare proxy's throughput. */
const BESIDE_BARE_MIN = 0.8;

/** Waits for nginx to listen: attempts, and the delay between them. */
const NGINX_TRIES = 100;
const NGINX_TRY_MS = 50;

export const ingressRequests: Benchmark = {
  name: "network/ingress",
  measures: "requests/s and latency through the ingress, beside a bare Node reverse proxy and nginx",
  async *run(context) {
    await using children = new Disposables();
    const start = () => children.use(startChild<ProxyTasks>(import.meta.url, "ingress-proxy-child", context.signal));
    const load = children.use(startChild<LoadTasks>(import.meta.url, "ingress-load-child", context.signal));
    const endpoints = await start().call("endpoints", 2);
    const ports = { ingress: await start().call("ingress", endpoints), bare: await start().call("bare", endpoints) };
    const nginxPort = await startNginx(endpoints, children, context);
    const measure = (port: number) => () => load.call("load", { port, connections: CONNECTIONS, durationMs: ROUND_MS });
    const subjects: Record<string, () => Promise<LoadResult>> = { ingress: measure(ports.ingress), bare: measure(ports.bare) };
    if (nginxPort !== undefined) subjects["nginx"] = measure(nginxPort);
    const { ingress = [], bare = [], nginx } = await context.rounds.measure(subjects);
    const of = (subject: readonly LoadResult[], value: keyof LoadResult) => subject.map((result) => result[value]);
    const figure = (value: keyof LoadResult, against: readonly LoadResult[]) => ({
      values: of(ingress, value),
      baselines: of(against, value),
    });
    const budget = { atLeast: BESIDE_BARE_MIN };
    yield figureOf({ name: "network-ingress-requests-beside-bare-node", unit: "req/s", ...figure("perSecond", bare), budget });
    yield figureOf({ name: "network-ingress-p50-beside-bare-node", unit: "ms", ...figure("medianMs", bare) });
    yield figureOf({ name: "network-ingress-p99-beside-bare-node", unit: "ms", ...figure("p99Ms", bare) });
    if (nginx === undefined) return;
    yield figureOf({ name: "network-ingress-requests-beside-nginx", unit: "req/s", ...figure("perSecond", nginx) });
    yield figureOf({ name: "network-ingress-p99-beside-nginx", unit: "ms", ...figure("p99Ms", nginx) });
  },
};

/** Undefined, with a note, if nginx is not installed. One worker, as the others have one thread. */
async function startNginx(endpoints: readonly number[], owned: Disposables, context: BenchmarkContext): Promise<number | undefined> {
  const program = await promisify(execFile)("sh", ["-c", "PATH=$PATH:/usr/sbin command -v nginx"]).then(
    ({ stdout }) => stdout.trim(),
    () => undefined,
  );
  if (program === undefined) {
    context.note("nginx is not installed (Debian: nginx-light), so it is not compared");
    return undefined;
  }
  const port = await freePort();
  const file = join(context.directory, "nginx.conf");
  await writeFile(file, nginxConfiguration(port, endpoints, context.directory));
  const child = spawn(program, ["-c", file, "-p", context.directory, "-e", "stderr"], { stdio: ["ignore", "ignore", "inherit"] });
  const exited = once(child, "exit");
  owned.defer(async () => {
    child.kill("SIGTERM");
    await exited;
  });
  await listening(port);
  return port;
}

function nginxConfiguration(port: number, endpoints: readonly number[], directory: string): string {
  const servers = endpoints.map((endpoint) => `server 127.0.0.1:${endpoint};`).join(" ");
  return `daemon off; worker_processes 1; pid ${directory}/nginx.pid; user root;
events { worker_connections 1024; }
http {
  access_log off; keepalive_requests 1000000;
  client_body_temp_path ${directory}; proxy_temp_path ${directory}; fastcgi_temp_path ${directory}; uwsgi_temp_path ${directory}; scgi_temp_path ${directory};
  upstream web { ${servers} keepalive 64; keepalive_requests 1000000; }
  server {
    listen 127.0.0.1:${port}; server_name web.example;
    location / {
      proxy_pass http://web; proxy_http_version 1.1; proxy_set_header Connection "";
      proxy_set_header Host $host; proxy_set_header X-Forwarded-For $remote_addr; proxy_set_header X-Forwarded-Proto $scheme;
    }
  }
}
`;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function listening(port: number): Promise<void> {
  for (let tries = 0; tries < NGINX_TRIES; tries++) {
    const answered = await fetch(`http://127.0.0.1:${port}/`).then(
      () => true,
      () => false,
    );
    if (answered) return;
    await new Promise((resolve) => setTimeout(resolve, NGINX_TRY_MS));
  }
  throw new Error(`nginx does not answer on port ${port}`);
}
