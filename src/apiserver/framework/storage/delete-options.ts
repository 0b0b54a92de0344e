/** The options of a delete, as decoded from its body or query. */
export interface DeleteOptions {
  readonly gracePeriodSeconds?: number;
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly orphanDependents?: boolean;
  readonly propagationPolicy?: string;
  readonly dryRun?: readonly string[];
}
