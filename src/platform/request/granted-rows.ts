/**
 * The resources that the current request may access: all, or those that match one of the criteria (OR). A criterion is
 * `Type` (all resources of a type) or `Type?query` (a search with its values filled in). A type without a criterion has
 * no rows. The list is never empty, since that would be a denial.
 */
export type GrantedRows = 'all' | readonly string[];
