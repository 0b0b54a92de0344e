/** A cluster under test control in the process of a test, with clients of both: the control API over HTTP, the cluster over HTTPS. */
import { silentLogger } from "../../base/logger.ts";
import { Disposables } from "../../base/disposables.ts";
import { httpsTransport } from "../../client/https/https-transport.ts";
import { loadKubeconfig } from "../../client/kubeconfig/load-kubeconfig.ts";
import { createClient } from "../../client/rest-client.ts";
import type { Client } from "../../client/client.ts";
import { CLUSTER_CONTROLLERS } from "../../config/controller-flags.ts";
import { DEFAULT_API_SERVER_OPTIONS } from "../../config/api-server-config.ts";
import { schedulerConfig } from "../../config/scheduler-config.ts";
import { readWhole } from "../../host/files/files.ts";
import { realClock } from "../../host/real-clock.ts";
import { startControlServer } from "../api/control-server.ts";
import { MAIN, TestControl } from "../test-control.ts";

export const TOKEN = "a-token-of-this-test";

export interface ControlAnswer {
  readonly code: number;
  // The tests know the answers.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any;
}

export interface Controlled extends AsyncDisposable {
  readonly control: TestControl;
  readonly url: string;
  call(method: string, path: string, body?: unknown): Promise<ControlAnswer>;
  /** The administrator, as another program has it. Closed with the cluster. */
  client(options?: { readonly cluster?: string; readonly userAgent?: string }): Promise<Client>;
}

export async function startControlled({
  isVirtual,
  nodes = 1,
}: {
  readonly isVirtual: boolean;
  readonly nodes?: number;
}): Promise<Controlled> {
  await using starting = new Disposables();
  const log = silentLogger;
  const apiServer = DEFAULT_API_SERVER_OPTIONS;
  const control = starting.use(
    await TestControl.start({
      config: { controllers: CLUSTER_CONTROLLERS, scheduler: schedulerConfig(undefined), apiServer, isVirtual, log },
      ...{ apiServer: { ...apiServer, serving: { ...apiServer.serving, securePort: 0 } }, nodes: { count: nodes }, log },
    }),
  );
  const { url } = starting.use(await startControlServer({ control, port: 0, token: TOKEN, log }));
  const owned = starting.move();
  return {
    control,
    url,
    call: (method, path, body) => callControl(`${url}${path}`, { method, body }),
    async client({ cluster = MAIN, userAgent = "a-test" } = {}) {
      const { kubeconfig: path } = control.cluster(cluster).door.part;
      const config = await loadKubeconfig({ environment: {}, readFile: readWhole, homeDirectory: "/", path });
      return createClient(owned.use(httpsTransport(config, { clock: realClock, log, userAgent })));
    },
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}

export async function callControl(
  url: string,
  { method, body, token = TOKEN }: { readonly method: string; readonly body?: unknown; readonly token?: string },
): Promise<ControlAnswer> {
  const response = await fetch(url, {
    method,
    headers: { authorization: `Bearer ${token}` },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  return { code: response.status, body: await response.json() };
}
