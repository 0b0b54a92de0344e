/** What volumes need of the certificates of Pods (certificates/pod-certificates.ts). */
import type { Pod, PodCertificateProjection } from "../../api/generated/core/v1.ts";

/** A podCertificate source of a projected volume of a Pod. */
export interface CertificateSource {
  readonly pod: Pod;
  readonly volumeName: string;
  /** Position among the sources of the volume. */
  readonly index: number;
  readonly projection: PodCertificateProjection;
}

/** PEM. */
export interface PodCredentials {
  readonly key: string;
  readonly certificateChain: string;
}
