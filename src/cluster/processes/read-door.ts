/** How the commands of a cluster reach its API server when that is a process of its own. */
import { readWhole } from "../../host/files/files.ts";
import type { StartedCluster } from "../start-cluster.ts";

/** The administrator's kubeconfig, which the API server wrote as JSON. */
export async function readDoor(url: string, kubeconfig: string): Promise<NonNullable<StartedCluster["door"]>> {
  const { clusters, users } = JSON.parse(new TextDecoder().decode(await readWhole(kubeconfig))) as {
    readonly clusters: readonly [{ readonly cluster: Readonly<Record<string, string>> }];
    readonly users: readonly [{ readonly user: Readonly<Record<string, string>> }];
  };
  const [{ cluster }] = clusters;
  const [{ user }] = users;
  return {
    url,
    kubeconfig,
    authority: fromBase64(cluster["certificate-authority-data"]),
    admin: { certificate: fromBase64(user["client-certificate-data"]), key: fromBase64(user["client-key-data"]) },
  };
}

function fromBase64(text = ""): string {
  return Buffer.from(text, "base64").toString("utf8");
}
