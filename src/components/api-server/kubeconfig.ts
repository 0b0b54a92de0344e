/** Formats a kubeconfig. Written as JSON, which is valid YAML. */

export interface KubeconfigOptions {
  /** Such as https://127.0.0.1:6443. */
  readonly server: string;
  /** User name in the file; the server uses the certificate's. */
  readonly user: string;
  /** PEM, like the following. */
  readonly authority: string;
  /** Client certificate of the user. */
  readonly certificate: string;
  readonly key: string;
}

/** Name of cluster and context. */
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
