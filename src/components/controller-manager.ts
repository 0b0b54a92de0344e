/**
 * Transports of a separate controller manager over HTTPS: its own, from its kubeconfig, and one per controller, with tokens of its service
 * account.
 */
import { KUBE_CONTROLLER_MANAGER } from "../api/identities.ts";
import type { Transport } from "../api/machinery/transport.ts";
import type { Clock } from "../base/clock.ts";
import type { Disposables } from "../base/disposables.ts";
import type { Logger } from "../base/logger.ts";
import type { ConnectionConfig } from "../client/kubeconfig/connection-config.ts";
import { httpsTransport } from "../client/https/https-transport.ts";
import { createClient } from "../client/rest-client.ts";
import { CONTROLLER_MANAGER_AGENT } from "./controllers.ts";
import type { LeaderElectedControllersOptions } from "./leader-election/leader-elected-controllers.ts";
import { ServiceAccountTokens } from "./service-account-tokens.ts";

export interface HttpsTransportsOptions {
  readonly connection: ConnectionConfig;
  /** True if each controller uses a token of its own service account; otherwise all use the identity of the connection. */
  readonly useServiceAccountCredentials: boolean;
  /** Counts the requests of a transport. */
  counted(transport: Transport): Transport;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Owned by `owner`; the tokens of all controllers are requested through the manager's transport. */
export function httpsTransports(options: HttpsTransportsOptions, owner: Disposables): LeaderElectedControllersOptions["transportFor"] {
  const { connection, useServiceAccountCredentials, clock, log } = options;
  const connect = (config: ConnectionConfig) => httpsTransport(config, { clock, log, userAgent: CONTROLLER_MANAGER_AGENT });
  const own = owner.use(connect(connection));
  const client = createClient(own);
  // Impersonation of the kubeconfig does not apply to service accounts.
  const { impersonate: _impersonate, ...server } = connection;
  return ({ name }, leading) => {
    if (name === KUBE_CONTROLLER_MANAGER.name || !useServiceAccountCredentials) return options.counted(own);
    const account = name.slice(name.lastIndexOf(":") + 1);
    const credentials = { tokenSource: new ServiceAccountTokens({ client, account, clock }) };
    return options.counted(leading.use(connect({ ...server, credentials })));
  };
}
