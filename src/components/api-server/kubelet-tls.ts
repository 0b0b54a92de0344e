/** TLS of the API server's connections to kubelets: client certificate and CA. */
import type { ClientTls } from "../../host/http/client/contract.ts";
import type { KubeletAccess } from "../../config/kubelet-access.ts";
import { readAuthorities, readKubeletClientFiles } from "../../config/certificate-files.ts";
import type { Pki } from "../../pki/pki.ts";

export class KubeletTls {
  readonly #given: ClientTls;
  readonly #isOwn: boolean;

  static async open({ certificateFiles, authorityFile }: KubeletAccess): Promise<KubeletTls> {
    const pair = certificateFiles === undefined ? {} : await readKubeletClientFiles(certificateFiles);
    const trust =
      authorityFile === undefined
        ? { isInsecure: true }
        : { authorities: await readAuthorities(authorityFile, "--kubelet-certificate-authority") };
    return new KubeletTls({ ...pair, ...trust }, certificateFiles === undefined);
  }

  private constructor(given: ClientTls, isOwn: boolean) {
    this.#given = given;
    this.#isOwn = isOwn;
  }

  /** Evaluated per connection: the cluster's own certificate is renewed. */
  show(pki: Pki): ClientTls {
    return this.#isOwn ? { ...this.#given, ...pki.pair("apiserver-kubelet-client") } : this.#given;
  }
}
