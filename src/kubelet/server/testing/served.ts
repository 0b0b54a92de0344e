/** A kubelet's server for tests, with real TLS, of a kubelet with one Pod in a runtime that the test controls. */
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { text } from "node:stream/consumers";
import type { Pod } from "../../../api/generated/core/v1.ts";
import { silentLogger } from "../../../base/logger.ts";
import { realClock } from "../../../host/real-clock.ts";
import { webSocketClient } from "../../../host/http/testing/web-socket-client.ts";
import { testServing } from "../../../testing/fixtures/certificates.ts";
import type { Runtime, RuntimeContainer, SandboxStatus } from "../../contracts/runtime.ts";
import type { ServedKubelet } from "../call.ts";
import { startKubeletServer, type KubeletServer, type KubeletServerOptions } from "../kubelet-server.ts";

const serving = testServing();

export const WEB: Pod = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "web", namespace: "default", uid: "u-1" },
  spec: {
    containers: [
      { name: "main", image: "web:1" },
      { name: "shell", image: "web:1", tty: true },
      { name: "done", image: "web:1" },
    ],
  },
  status: {
    containerStatuses: [
      { name: "main", image: "", imageID: "", ready: true, restartCount: 0, containerID: "fake://c-main", state: { running: {} } },
      { name: "done", image: "", imageID: "", ready: false, restartCount: 0, state: { waiting: { reason: "ErrImagePull" } } },
    ],
  },
};

function aContainer(name: string, state: RuntimeContainer["state"]): RuntimeContainer {
  return { id: `c-${name}`, name, attempt: 0, image: "web:1", imageId: "sha256:1", createdAtMs: 1_000, state };
}

export const SANDBOX: SandboxStatus = {
  ...{ id: "s-1", podUid: "u-1", namespace: "default", name: "web", state: "ready", createdAtMs: 1_000, ips: ["10.0.0.2"] },
  containers: [
    aContainer("main", { is: "running", startedAtMs: 2_000 }),
    aContainer("shell", { is: "running", startedAtMs: 2_000 }),
    aContainer("done", { is: "exited", startedAtMs: 2_000, finishedAtMs: 3_000, exitCode: 0, reason: "Completed" }),
  ],
};

/** `runtime`: the subject of the test. */
export function aKubelet(runtime: Partial<Runtime> = {}): ServedKubelet {
  const whole = { list: () => Promise.resolve([SANDBOX]), status: () => Promise.resolve(SANDBOX), ...runtime } as Runtime;
  return {
    nodeName: "n1",
    runtime: whole,
    pod: ({ namespace, name }) => (namespace === "default" && name === "web" ? WEB : undefined),
    pods: () => [WEB],
    container: (_pod, name) => Promise.resolve(SANDBOX.containers.find((container) => container.name === name)),
  };
}

export interface Served extends KubeletServer {
  readonly authority: string;
  ask(path: string, options?: AskOptions): Promise<Answer>;
  /** Resolves when the response head arrives. */
  open(path: string, options?: AskOptions): Promise<IncomingMessage>;
  webSocket(path: string, protocols?: readonly string[]): ReturnType<typeof webSocketClient>;
}

export interface AskOptions {
  readonly method?: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** PEM. */
  readonly cert?: string;
  readonly key?: string;
}

export interface Answer {
  readonly code: number;
  readonly type: string | undefined;
  readonly body: string;
}

/** AlwaysAllow by default. */
export async function serve(kubelet: ServedKubelet, options: Partial<KubeletServerOptions> = {}): Promise<Served> {
  const server = await startKubeletServer({
    ...{ kubelet, host: "127.0.0.1", port: 0, tls: serving, clock: realClock, log: silentLogger },
    authentication: { anonymous: true },
    authorization: { mode: "AlwaysAllow" },
    ...options,
  });
  const { authority } = serving;
  const open = async (path: string, { body, ...asked }: AskOptions = {}) => {
    const sent = request({ host: "127.0.0.1", port: server.port, path, ca: authority, agent: false, ...asked });
    sent.end(body);
    const [answer] = (await once(sent, "response")) as [IncomingMessage];
    return answer;
  };
  return {
    ...server,
    authority,
    open,
    async ask(path, asked) {
      const answer = await open(path, asked);
      return { code: answer.statusCode ?? 0, type: answer.headers["content-type"], body: await text(answer) };
    },
    webSocket: (path, protocols = ["v5.channel.k8s.io"]) =>
      webSocketClient(`wss://127.0.0.1:${server.port}${path}`, { protocols, authority }),
  };
}
