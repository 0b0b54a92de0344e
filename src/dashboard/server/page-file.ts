/** A file of the page, as tools/generate/dashboard-page.ts generates it. */

export interface PageFile {
  /** Below /dashboard/; "" is the page itself. */
  readonly path: string;
  /** Media type. */
  readonly type: string;
  /** gzip, base64. */
  readonly content: string;
}
