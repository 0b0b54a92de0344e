/**
 * A whole API server for tests, behind real HTTPS in this process, with the real kubectl and Helm as clients. Objects are frozen, so that
 * code that mutates a shared one fails, and an unexpected error fails the test that disposes of the server. So does a secret in any log
 * line, at whatever level, or in a warning to a client: some are planted for that (planted-secrets.ts).
 */
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { DEFAULT_API_SERVER_CONFIG, type ApiServerConfig } from "../../apiserver/framework/api-server-config.ts";
import { Disposables } from "../../base/disposables.ts";
import { createLogger, formatHuman } from "../../base/logger.ts";
import { makeTemporaryDirectory } from "../../host/files/private-files.ts";
import { realClock } from "../../host/real-clock.ts";
import { realRandom } from "../../host/real-random.ts";
import { startStoreAndApiServer } from "../../components/api-server/start-api-server.ts";
import type { ApiServerPart } from "../../components/api-server/secure-serving.ts";
import { DEFAULT_SERVING_CONFIG, type ServingConfig } from "../../config/api-server-config.ts";
import { CONTROLLER_MANAGER_AGENT, controllerSettings, startControllersPart } from "../../components/controllers.ts";
import { DEFAULT_IDENTITY_CONFIG, type IdentityConfig } from "../../config/identity-config.ts";
import type { StoreConfig } from "../../config/store-config.ts";
import { sharedPki } from "../fixtures/certificates.ts";
import { clientProgram, type ClientProgram } from "../clients/client-program.ts";
import { toolPath, type ToolName } from "../needs.ts";
import { plant, PLANTED_TOKENS, watchedLog, type WatchedLog } from "../fixtures/planted-secrets.ts";

export interface TestApiServerOptions {
  /** Default: in memory. */
  readonly store?: StoreConfig;
  /** Default: loopback, any free port. */
  readonly serving?: Partial<ServingConfig>;
  readonly api?: Partial<ApiServerConfig>;
  readonly identity?: Partial<IdentityConfig>;
  /** Value of --controllers. Default: those without which no pod can be created and no role or quota is complete. */
  readonly controllers?: readonly string[];
}

const CONTROLLERS_DEFAULT = ["serviceaccount-controller", "clusterrole-aggregation-controller", "resourcequota-controller"];

export interface TestApiServer extends AsyncDisposable {
  readonly url: string;
  readonly kubeconfig: string;
  /** An empty directory that is removed with the server. */
  readonly directory: string;
  /** Requires `needs("kubectl")` in the test. */
  readonly kubectl: ClientProgram;
  /** Requires `needs("helm")` in the test. */
  readonly helm: ClientProgram;
  /** Sends a request as the administrator over HTTPS; resolves with the response, whatever its code. */
  ask(method: string, path: string, body?: object): Promise<{ readonly code: number; readonly body: string }>;
  makeNamespace(name: string): Promise<void>;
  /** Creates a namespace and returns a kubectl that works in it. */
  inNamespace(name: string): Promise<ClientProgram>;
  /** Stops listening, ends the watches, closes the store. Rejects if the server logged an error or a secret. */
  close(): Promise<void>;
}

const EVENT_TTL_MS = 3_600_000;

export async function startTestApiServer(options: TestApiServerOptions = {}): Promise<TestApiServer> {
  await using starting = new Disposables();
  const directory = starting.use(await makeTemporaryDirectory("k8ts-api-server-")).path;
  const errors: string[] = [];
  const watched = watchedLog((line) => void (line.level === "error" && errors.push(formatHuman(line))));
  const log = createLogger({ sink: watched.sink, clock: realClock, level: "debug" });
  const tokenAuthFile = join(directory, "tokens");
  await writeFile(tokenAuthFile, PLANTED_TOKENS, { mode: 0o600 });
  // A server with persistent certificates uses its own.
  const pki = options.serving?.certificateDirectory === undefined ? { pki: await sharedPki() } : {};
  const context = { clock: realClock, log, ...pki };
  const { part, core } = starting.use(
    await startStoreAndApiServer(
      {
        store: options.store ?? { driver: "memory" },
        apiServer: {
          serving: { ...DEFAULT_SERVING_CONFIG, securePort: 0, kubeconfig: join(directory, "kubeconfig"), ...options.serving },
          api: { ...DEFAULT_API_SERVER_CONFIG, freezeObjects: true, ...options.api },
          identity: { ...DEFAULT_IDENTITY_CONFIG, tokenAuthFile, ...options.identity },
          eventTtlMs: EVENT_TTL_MS,
          kubelets: {},
        },
      },
      context,
    ),
  );
  starting.use(
    await startControllersPart({
      controllers: options.controllers ?? CONTROLLERS_DEFAULT,
      settings: controllerSettings(part),
      transportFor: (identity) => core.transport({ user: identity, userAgent: CONTROLLER_MANAGER_AGENT }),
      clock: realClock,
      random: realRandom(),
      log,
    }),
  );
  const clients = clientsOf(part, { directory, watched });
  await plant(clients.ask);
  const running = starting.move();
  const close = async (): Promise<void> => {
    await running[Symbol.asyncDispose]();
    watched.check();
    if (errors.length > 0) throw new Error(`The server logged ${errors.length} errors:\n${errors.join("\n")}`);
  };
  return { url: part.url, kubeconfig: part.kubeconfig, directory, close, [Symbol.asyncDispose]: close, ...clients };
}

function clientsOf(
  part: ApiServerPart,
  { directory, watched }: { readonly directory: string; readonly watched: WatchedLog },
): Pick<TestApiServer, "kubectl" | "helm" | "ask" | "makeNamespace" | "inNamespace"> {
  const ask = async (method: string, path: string, body?: object) => {
    const { warnings, ...answer } = await askServer(part, { method, path, body });
    for (const warning of warnings) watched.see(warning);
    return answer;
  };
  const makeNamespace = async (name: string): Promise<void> => {
    const { code, body } = await ask("POST", "/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name } });
    if (code !== 201) throw new Error(`Cannot create namespace ${name}: the server answered ${code}: ${body}`);
  };
  return {
    get kubectl() {
      return program("kubectl", part, directory);
    },
    get helm() {
      return program("helm", part, directory);
    },
    ask,
    makeNamespace,
    async inNamespace(name) {
      await makeNamespace(name);
      return program("kubectl", part, directory).with(`--namespace=${name}`);
    },
  };
}

/** Files of these programs (discovery cache, Helm caches) are beside the kubeconfig. */
function program(tool: ToolName, { kubeconfig }: ApiServerPart, directory: string): ClientProgram {
  const places = { PATH: process.env["PATH"] ?? "", HOME: directory, TMPDIR: directory, KUBECONFIG: kubeconfig };
  // They run for a tenth of a second; garbage collection would take a third of that.
  return clientProgram({ path: toolPath(tool), environment: { ...places, TZ: "UTC", GOGC: "off" } });
}

async function askServer(
  { url, authority, admin }: ApiServerPart,
  { method, path, body }: { readonly method: string; readonly path: string; readonly body: object | undefined },
): Promise<{ readonly code: number; readonly body: string; readonly warnings: readonly string[] }> {
  const headers = { "content-type": "application/json" };
  const shown = { cert: admin.certificate, key: admin.key };
  const asked = request(`${url}${path}`, { method, ca: authority, ...shown, agent: false, headers });
  asked.end(body === undefined ? undefined : JSON.stringify(body));
  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  return { code: answer.statusCode ?? 0, body: await text(answer), warnings: [answer.headers["warning"] ?? []].flat() };
}
