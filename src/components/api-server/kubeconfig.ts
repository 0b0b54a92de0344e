/**
 * The file with which kubectl and every other client finds the server and shows who its user is. Written as JSON, which is YAML too:
 * nothing in it needs more.
 */

export interface KubeconfigOptions {
  /** Such as https://127.0.0.1:6443. */
  readonly server: string;
  /** What the user is called in the file; the server goes by the certificate. */
  readonly user: string;
  /** PEM, as all of these. */
  readonly authority: string;
  /** What the user shows. */
  readonly certificate: string;
  readonly key: string;
}

/** Of the cluster and the context in it. */
const NAME = "k8ts";

export function kubeconfigText({ server, user, authority, certificate, key }: KubeconfigOptions): string {
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: NAME, cluster: { server, "certificate-authority-data": base64(authority) } }],
    users: [{ name: user, user: { "client-certificate-data": base64(certificate), "client-key-data": base64(key) } }],
    contexts: [{ name: NAME, context: { cluster: NAME, user } }],
    "current-context": NAME,
  };
  return `${JSON.stringify(config, undefined, 2)}\n`;
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}
