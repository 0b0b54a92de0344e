/**
 * Finds out the CA of the cluster at an address with a bootstrap token: reads cluster-info over a connection that is not verified, checks
 * it (cluster-info.ts), and reads it again over one that is. Waits for a server that does not respond and for the signature of a token that
 * was just created.
 */
import { configMaps } from "../../api/core/v1/config-map.ts";
import type { BootstrapTokenParts } from "../../api/core/v1/secret/bootstrap-token.ts";
import type { ConfigMap } from "../../api/generated/core/v1.ts";
import { CLUSTER_INFO } from "../../api/node-joining.ts";
import { StatusError } from "../../api/machinery/status-error.ts";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import type { ConnectionConfig } from "../../client/kubeconfig/connection-config.ts";
import { httpsTransport } from "../../client/https/https-transport.ts";
import { createClient } from "../../client/rest-client.ts";
import { checkSignature, pinnedAuthorities, publicKeyHashes, readClusterInfo, type ClusterInfo } from "./cluster-info.ts";

/** A server that is starting responds within seconds; the signer reacts to a new token at once. */
const RETRY_MS = 1_000;

export interface DiscoveryOptions {
  /** Such as https://192.0.2.1:6443. */
  readonly server: string;
  readonly token: BootstrapTokenParts;
  /** Hashes of acceptable CAs. Empty: any, trusted by the token alone. */
  readonly pins: readonly string[];
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** Called when the reason for waiting changes. */
  onWaiting?(reason: string): void;
}

export const JOIN_AGENT = "k8ts-join";

/** Rejects with the problem and the remedy. `server` is the given one: it is known to work. */
export async function discoverCluster(options: DiscoveryOptions): Promise<ClusterInfo> {
  const { server, token, pins } = options;
  const found = await awaitSigned(options);
  const { authority } = readClusterInfo(found);
  const trusted = pins.length === 0 ? authority : pinnedAuthorities(authority, pins);
  if (trusted === "")
    throw new Error(
      `Cannot trust the cluster at ${server}: its CA has the public key ${publicKeyHashes(authority).join(", ")}, which is not in ` +
        `--discovery-token-ca-cert-hash; check the address, and create a join command with "k8ts token create" on the cluster`,
    );
  const verified = await verifiedInfo(options, trusted);
  if (checkSignature(verified, token) !== "valid" || readClusterInfo(verified).authority !== authority)
    throw new Error(
      `Cannot trust the cluster at ${server}: a verified connection returned another kube-public/cluster-info than the first one`,
    );
  return { server, authority: trusted };
}

/** With the verified CA. A certificate that does not have the address is the most likely mistake. */
async function verifiedInfo(options: DiscoveryOptions, authority: string): Promise<ConfigMap> {
  try {
    return await read({ server: options.server, namespace: "default", authority: { text: authority } }, options);
  } catch (error) {
    options.signal.throwIfAborted();
    throw new Error(
      `Cannot verify the API server at ${options.server} with the cluster's CA: ${(error as Error).message}; ` +
        `use an address that is in its certificate, such as that of --listen or --advertise-address of the cluster`,
      { cause: error },
    );
  }
}

/** "unknown": it does not respond. */
export type AuthorityCheck = "same" | "another" | "unknown";

/** Whether the server at an address has a certificate of this CA. */
export async function checkAuthority(
  server: string,
  { authority, ...context }: { readonly authority: string } & Pick<DiscoveryOptions, "clock" | "log" | "signal">,
): Promise<AuthorityCheck> {
  try {
    await read({ server, namespace: "default", authority: { text: authority } }, context);
    return "same";
  } catch (error) {
    context.signal.throwIfAborted();
    if (OF_ANOTHER_AUTHORITY.test((error as Error).message)) return "another";
    // An error response, such as Forbidden, came over a verified connection.
    return error instanceof StatusError ? "same" : "unknown";
  }
}

/** Messages of OpenSSL and Node, which wrapping errors keep. */
const OF_ANOTHER_AUTHORITY =
  /self-signed certificate|unable to verify the first certificate|unable to get (local )?issuer certificate|certificate signature failure/;

async function awaitSigned(options: DiscoveryOptions): Promise<ConfigMap> {
  const { server, token, clock, signal, timeoutMs } = options;
  const giveUpAtMs = clock.monotonic() + timeoutMs;
  for (let said = ""; ;) {
    const state = await look(options);
    if ("found" in state) return state.found;
    if (clock.monotonic() >= giveUpAtMs)
      throw new Error(`Cannot join the cluster at ${server}: ${state.why} (waited ${timeoutMs / 1_000} s); ${state.remedy}`);
    if (state.why !== said) options.onWaiting?.(state.why);
    said = state.why;
    await clock.sleep(RETRY_MS, signal);
  }

  async function look(given: DiscoveryOptions): Promise<{ readonly found: ConfigMap } | { readonly why: string; readonly remedy: string }> {
    let found: ConfigMap;
    try {
      found = await read({ server, namespace: "default", isInsecure: true }, given);
    } catch (error) {
      signal.throwIfAborted();
      return {
        why: (error as Error).message,
        remedy: "check the address, and that the API server listens on it (k8ts up --listen ADDRESS:PORT)",
      };
    }
    const signature = checkSignature(found, token);
    if (signature === "valid") return { found };
    if (signature === "wrong")
      throw new Error(
        `Cannot trust the cluster at ${server}: its signature of kube-public/cluster-info does not match the secret of token ${token.id}`,
      );
    return {
      why: `kube-public/cluster-info is not signed with token ${token.id}`,
      remedy: `the token does not exist or has expired: create one with "k8ts token create" on the cluster`,
    };
  }
}

async function read(
  connection: ConnectionConfig,
  { clock, log, signal }: Pick<DiscoveryOptions, "clock" | "log" | "signal">,
): Promise<ConfigMap> {
  await using transport = httpsTransport(connection, { clock, log, userAgent: JOIN_AGENT });
  return await createClient(transport).get(configMaps, CLUSTER_INFO, { signal });
}
