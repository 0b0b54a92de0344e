/**
 * Arguments with which a node on this machine joins the cluster: a bootstrap token of its own, valid for as long as a join may take, in a
 * private file, since all users of the machine can read the arguments of its processes.
 */
import { secrets } from "../../api/core/v1/secret.ts";
import type { Clock } from "../../base/clock.ts";
import type { Client } from "../../client/client.ts";
import type { FlagSet, FlagValues } from "../../cli/framework/flags.ts";
import { writePrivateText } from "../../host/files/private-files.ts";
import { formatFlagArguments } from "../../cli/framework/format-flags.ts";
import { networkFlags } from "../../components/network/start-network-components.ts";
import { publicKeyHashes } from "../join/cluster-info.ts";
import { randomToken, TOKEN_GROUPS, TOKEN_USAGES, tokenSecret } from "../tokens/bootstrap-tokens.ts";
import { pressureArguments } from "../../config/kubelet/pressure-flags.ts";
import type { PressureSettings } from "../../kubelet/eviction/pressure-settings.ts";

/** Longer than the timeout of a join. */
const TOKEN_TTL_MS = 15 * 60_000;

export interface JoinArgumentsOptions {
  /** Address and port of the API server as the nodes reach it. */
  readonly server: { readonly address: string; readonly port: number };
  /** CA of the cluster (PEM). */
  readonly authority: string;
  /** Of the administrator. */
  readonly client: Client;
  readonly networkValues: FlagValues<FlagSet>;
  readonly pressure: PressureSettings;
  /** Replaced at each call. */
  readonly tokenFile: string;
  readonly clock: Clock;
}

export async function joinArguments(options: JoinArgumentsOptions): Promise<readonly string[]> {
  const { server, authority, client, networkValues, pressure, tokenFile, clock } = options;
  const token = randomToken();
  const description = "Created by k8ts for a node on this machine";
  const settings = { ttlMs: TOKEN_TTL_MS, usages: TOKEN_USAGES, groups: TOKEN_GROUPS, description };
  await client.create(secrets, tokenSecret(token, settings, clock.now()));
  await clock.external(writePrivateText(tokenFile, `${token.id}.${token.secret}\n`));
  return [
    `${server.address}:${server.port}`,
    `--token-file=${tokenFile}`,
    ...publicKeyHashes(authority).map((hash) => `--discovery-token-ca-cert-hash=${hash}`),
    ...formatFlagArguments(networkFlags("node"), networkValues),
    ...pressureArguments(pressure),
  ];
}
