/** The command with which a machine joins a cluster, from the ConfigMap kube-public/cluster-info. */
import { configMaps } from "../../api/core/v1/config-map.ts";
import { CLUSTER_INFO } from "../../api/node-joining.ts";
import type { Client } from "../../client/client.ts";
import { isLoopback } from "../../config/api-server-config.ts";
import { publicKeyHashes, readClusterInfo } from "../join/cluster-info.ts";

export interface JoinCommand {
  readonly command: string;
  /** Why other machines cannot use it, with the remedy. */
  readonly problem?: string;
}

export async function joinCommand(client: Client, token: string): Promise<JoinCommand> {
  const info = readClusterInfo(await client.get(configMaps, CLUSTER_INFO));
  return joinCommandFor(info, token);
}

export function joinCommandFor({ server, authority }: ReturnType<typeof readClusterInfo>, token: string): JoinCommand {
  const { hostname, host } = new URL(server);
  const pins = publicKeyHashes(authority).map((hash) => `--discovery-token-ca-cert-hash ${hash}`);
  const command = ["k8ts join", host, "--token", token, ...pins].join(" ");
  if (!isLoopback(hostname.replace(/^\[(.*)\]$/, "$1"))) return { command };
  return {
    command,
    problem:
      `The API server listens on ${host} only, which other machines cannot reach: restart the cluster with --listen ADDRESS:PORT and an ` +
      "address of this machine, such as --listen 0.0.0.0:6443",
  };
}
