/** Connection of the commands `k8ts token`, `k8ts why`, `k8ts trace` and `k8ts dashboard`: as administrator of a local cluster, or with a kubeconfig. */
import { Disposables } from "../../base/disposables.ts";
import type { Client } from "../../client/client.ts";
import type { ConnectionConfig } from "../../client/kubeconfig/connection-config.ts";
import { httpsTransport, type HttpsTransport } from "../../client/https/https-transport.ts";
import { createClient } from "../../client/rest-client.ts";
import { loadConnection } from "../../config/connection-flags.ts";
import { isOwnAddress } from "../../host/network/network-address.ts";
import { readTrustedText } from "../../host/files/trusted-path.ts";
import type { Environment, Io } from "../../cli/framework/command.ts";
import type { FlagSet, FlagValues, Parsed } from "../../cli/framework/flags.ts";
import { findHome, namesOf } from "../home/cluster-home.ts";
import { findRunningProcess } from "../home/find-running-process.ts";
import { chooseHome, homeFlags, type HomeChoice } from "../home/home-flags.ts";
import { adminConnection } from "../kubeconfig/admin-connection.ts";

export const tokenFlags = {
  ...homeFlags,
  kubeconfig: {
    type: "string",
    placeholder: "FILE",
    doc: "kubeconfig of an administrator of the cluster, or - for standard input. Default: that of the local cluster.",
  },
} as const satisfies FlagSet;

export interface TokenConnection {
  readonly home: HomeChoice;
  readonly kubeconfig?: string;
}

export function tokenConnection(values: FlagValues<typeof tokenFlags>, environment: Environment): Parsed<TokenConnection> {
  const home = chooseHome(values, environment);
  const { kubeconfig } = values;
  return home.ok ? { ok: true, options: { home: home.options, ...(kubeconfig === undefined ? {} : { kubeconfig }) } } : home;
}

export interface TokenClient extends AsyncDisposable {
  readonly client: Client;
  readonly transport: HttpsTransport;
}

export function openTokenClient(connection: TokenConnection, io: Io): Promise<TokenClient> {
  return openAdminClient(connection, io, { operation: "manage bootstrap tokens", userAgent: "k8ts-token" });
}

export interface AdminClientOptions {
  /** Completes "Cannot …" in the error message. */
  readonly operation: string;
  readonly userAgent: string;
}

/** Rejects with the remedy if there is no running cluster. */
export async function openAdminClient(
  connection: TokenConnection,
  io: Io,
  { operation, userAgent }: AdminClientOptions,
): Promise<TokenClient> {
  const { clock, log, signal } = io;
  const config = await chosenConnection(connection, io, operation);
  const owned = new Disposables();
  const transport = owned.use(httpsTransport(config, { clock, log, userAgent }));
  return { client: createClient(transport).with({ signal }), transport, [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose]() };
}

/** `operation` completes "Cannot …" in the error message. */
export async function chosenConnection({ home, kubeconfig }: TokenConnection, io: Io, operation: string): Promise<ConnectionConfig> {
  return kubeconfig === undefined ? localConnection(home, io, operation) : loadConnection({ kubeconfig, context: undefined }, io);
}

async function localConnection(choice: HomeChoice, { environment }: Io, operation: string): Promise<ConnectionConfig> {
  const home = await findHome(choice, environment);
  const process = home === undefined ? undefined : (await findRunningProcess(home)).process;
  if (home === undefined || process === undefined) {
    const { name, commandArguments } = home ?? namesOf(choice, environment);
    throw new Error(
      `Cannot ${operation}: cluster "${name}" is not running; start it with "k8ts up${commandArguments}", or set --kubeconfig to ` +
        "that of an administrator",
    );
  }
  const text = await readTrustedText(home.kubeconfig, { userHome: environment["HOME"] });
  return adminConnection({ path: home.kubeconfig, text, isOwnAddress });
}
