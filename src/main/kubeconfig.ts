/**
 * The file with which kubectl and every other client finds the server and shows who its user is. Written as JSON, which is YAML too:
 * nothing in it needs more.
 */

export interface KubeconfigOptions {
  /** Such as https://127.0.0.1:6443. */
  readonly server: string;
  /** PEM. */
  readonly authority: string;
  readonly token: string;
}

/** Of the cluster, the user and the context in it. */
const NAME = "k8ts";

export function kubeconfigText({ server, authority, token }: KubeconfigOptions): string {
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: NAME, cluster: { server, "certificate-authority-data": Buffer.from(authority).toString("base64") } }],
    users: [{ name: NAME, user: { token } }],
    contexts: [{ name: NAME, context: { cluster: NAME, user: NAME } }],
    "current-context": NAME,
  };
  return `${JSON.stringify(config, undefined, 2)}\n`;
}
