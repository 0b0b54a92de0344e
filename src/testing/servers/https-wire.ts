/** A real API server behind real HTTPS, with one connection that can be broken and one that cannot. */
import { readFile } from "node:fs/promises";
import type { Transport } from "../../api/machinery/transport.ts";
import type { Clock } from "../../base/clock.ts";
import { Disposables } from "../../base/disposables.ts";
import { silentLogger } from "../../base/logger.ts";
import { httpsTransport } from "../../client/https/https-transport.ts";
import { loadKubeconfig } from "../../client/kubeconfig/load-kubeconfig.ts";
import { realClock } from "../../host/real-clock.ts";
import { startTestApiServer, type TestApiServer } from "./api-server.ts";
import { startTcpProxy, type TcpProxy } from "./tcp-proxy.ts";

export interface HttpsWire extends AsyncDisposable {
  readonly clock: Clock;
  readonly server: TestApiServer;
  /** Through the proxy. */
  readonly breakable: Transport;
  readonly direct: Transport;
  readonly proxy: TcpProxy;
}

export async function startHttpsWire(): Promise<HttpsWire> {
  await using starting = new Disposables();
  const server = starting.use(await startTestApiServer());
  const proxy = starting.use(await startTcpProxy(Number(new URL(server.url).port)));
  const config = await loadKubeconfig({ path: server.kubeconfig, environment: {}, homeDirectory: "/none", readFile });
  const options = { clock: realClock, log: silentLogger, userAgent: "test" };
  const direct = starting.use(httpsTransport(config, options));
  const breakable = starting.use(httpsTransport({ ...config, server: `https://127.0.0.1:${proxy.port}` }, options));
  const running = starting.move();
  return { clock: realClock, server, breakable, direct, proxy, [Symbol.asyncDispose]: () => running[Symbol.asyncDispose]() };
}
