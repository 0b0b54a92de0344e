/** A server that accepts connections and never answers, and a kubeconfig for it. */
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { Disposables } from "../../base/disposables.ts";
import { makeTemporaryDirectory } from "../../host/files/private-files.ts";

export interface SilentServer extends AsyncDisposable {
  readonly port: number;
  readonly kubeconfig: string;
}

export async function startSilentServer(): Promise<SilentServer> {
  await using starting = new Disposables();
  const directory = starting.use(await makeTemporaryDirectory("k8ts-silent-server-"));
  const server = createServer().listen(0, "127.0.0.1");
  starting.defer(async () => void server.close());
  await once(server, "listening");
  const { port } = server.address() as { readonly port: number };
  const kubeconfig = join(directory.path, "config");
  const entry = (of: object) => [{ name: "a", ...of }];
  const clusters = entry({ cluster: { server: `https://127.0.0.1:${port}`, "insecure-skip-tls-verify": true } });
  const contexts = entry({ context: { cluster: "a", user: "a" } });
  const users = entry({ user: { token: "t" } });
  await writeFile(kubeconfig, JSON.stringify({ apiVersion: "v1", kind: "Config", "current-context": "a", clusters, contexts, users }));
  const owned = starting.move();
  return { port, kubeconfig, [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose]() };
}
