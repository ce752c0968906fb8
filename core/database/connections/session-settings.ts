/** What PostgreSQL is set to on every connection of ours, whichever server it is. */

/**
 * The defaults of PostgreSQL expect spinning disks (`random_page_cost` 4) and long analytical queries (`jit` on). Our statements
 * are short and read by index: compiling them takes longer than running them, and the planner would read whole tables.
 */
export const SESSION_SETTINGS: Readonly<Record<string, string>> = {
  jit: 'off',
  random_page_cost: '1.1',
  work_mem: '8MB',
};
