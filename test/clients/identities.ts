/**
 * The real clients as users other than the administrator: a kubeconfig for the same server with other credentials. A flag like --token
 * would not do: the administrator's certificate would still be presented, and it takes precedence.
 */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { TestApiServer } from "../../src/testing/servers/api-server.ts";
import type { ClientProgram } from "../../src/testing/clients/client-program.ts";

/** Credentials of a user, by the names of a kubeconfig. */
export type Credentials =
  | { readonly token: string }
  | { readonly "client-certificate": string; readonly "client-key": string }
  | { readonly username: string; readonly password: string };

/** No server accepts passwords, and kubectl prompts for one if there are no credentials; so this one makes the client anonymous. */
export const IGNORED_CREDENTIALS: Credentials = { username: "ignored", password: "ignored" };

interface Kubeconfig {
  readonly users: readonly { readonly name: string; readonly user: object }[];
}

/** Returns the path of a new file; `name` is only part of it. */
export async function kubeconfigOf(server: TestApiServer, name: string, credentials: Credentials): Promise<string> {
  const config = JSON.parse(await readFile(server.kubeconfig, "utf8")) as Kubeconfig;
  const path = join(server.directory, `${name}.kubeconfig`);
  const users = config.users.map((user) => ({ ...user, user: credentials }));
  await writeFile(path, JSON.stringify({ ...config, users }), { mode: 0o600 });
  return path;
}

export async function kubectlOf(server: TestApiServer, name: string, credentials: Credentials): Promise<ClientProgram> {
  return server.kubectl.with(`--kubeconfig=${await kubeconfigOf(server, name, credentials)}`);
}

/** Creates a token for a service account in kubectl's namespace; `flags` are those of `create token`. */
export async function tokenOf(kubectl: ClientProgram, account: string, flags = ""): Promise<string> {
  return (await kubectl(`create token ${account} ${flags}`)).trim();
}
