/**
 * The resources that the current request may access: all resources, or those that match at least one of the criteria. A
 * criterion is `Type` (all resources of a type) or `Type?query` (a search with its values filled in). A type without a
 * criterion has no rows. The list is never empty, since that would be a denial.
 */
export type GrantedRows = 'all' | readonly string[];
