/**
 * The resources that the present request may touch: all, or those that one of the criteria finds (an OR). A criterion
 * is `Type`, every resource of a type, or `Type?query`, a search whose values are filled in. A type without a criterion
 * has no rows. An empty list does not occur: it would be a denial.
 */
export type GrantedRows = 'all' | readonly string[];
