/**
 * Writes the server's kubeconfigs: the administrator's, at the configured path or in a temporary directory that is removed with the server
 * (after a kill: by the next start), and, if certificates are kept, one per component in `kubeconfigs` beside them. Written at every start,
 * because the port may change, and after every renewal.
 */
import type { Logger } from "../../base/logger.ts";
import { isDiskFull, joinPath } from "../../host/files/files.ts";
import { absolutePath, makeProcessDirectory, writePrivateText, type TemporaryDirectory } from "../../host/files/private-files.ts";
import type { ServingConfig } from "../../config/api-server-config.ts";
import { kubeconfigText } from "./kubeconfig.ts";
import { COMPONENTS, type LeafName } from "../../pki/leaf-certificates.ts";
import type { Pki } from "../../pki/pki.ts";

/** Inside the directory of the certificates. */
const COMPONENTS_DIRECTORY = "kubeconfigs";

interface Written {
  readonly server: string;
  readonly authority: string;
  readonly pki: Pki;
  readonly log: Logger;
}

export class KubeconfigFiles implements AsyncDisposable {
  /** The administrator's, an absolute path. */
  readonly admin: string;
  readonly #files: ReadonlyMap<LeafName, string>;
  readonly #temporary: TemporaryDirectory | undefined;

  static async open({ kubeconfig, certificateDirectory }: ServingConfig): Promise<KubeconfigFiles> {
    const temporary = kubeconfig === undefined ? await makeProcessDirectory("k8ts-") : undefined;
    const admin = absolutePath(kubeconfig ?? joinPath(temporary?.path ?? "", "kubeconfig"));
    const files = new Map<LeafName, string>([["admin", admin]]);
    if (certificateDirectory !== undefined) {
      for (const name of COMPONENTS) files.set(name, joinPath(certificateDirectory, COMPONENTS_DIRECTORY, `${name}.conf`));
    }
    return new KubeconfigFiles(admin, files, temporary);
  }

  private constructor(admin: string, files: ReadonlyMap<LeafName, string>, temporary: TemporaryDirectory | undefined) {
    this.admin = admin;
    this.#files = files;
    this.#temporary = temporary;
  }

  /** Those of components are optional: the directory may be read-only. */
  async write({ server, authority, pki, log }: Written): Promise<void> {
    for (const [name, path] of this.#files) {
      const text = kubeconfigText({ server, authority, user: name, ...pki.pair(name) });
      try {
        await writePrivateText(path, text);
      } catch (error) {
        const flag = name === "admin" ? "--kubeconfig" : "--cert-dir";
        const problem = isDiskFull(error)
          ? `Cannot write ${path}: no space is left on the disk; free some (see df -h)`
          : `Cannot write ${path}: ${(error as Error).message}; set ${flag} to a path that this user can write`;
        if (name === "admin") throw new Error(problem, { cause: error });
        log.warn(problem);
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#temporary?.[Symbol.asyncDispose]();
  }
}
