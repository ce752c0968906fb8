/** Query and response of GET /search. */
import Joi from 'joi';

export interface SearchQuery {
  q: string;
  limit: number;
}
export interface SearchResult {
  id: string;
  type: string;
  title: string;
  description?: string;
  href?: string;
}

export const searchQuery = Joi.object<SearchQuery, true>({
  q: Joi.string()
    .trim()
    .min(1)
    .max(100)
    // No stored text contains NUL, and the database refuses it.
    .pattern(/^[^\0]*$/)
    .required()
    .description('Part of a name, case-insensitive; % and _ are plain characters'),
  limit: Joi.number().integer().min(1).max(50).default(20).description('Maximum number of results'),
});

export const searchAnswer = Joi.object({
  results: Joi.array()
    .items(
      Joi.object<SearchResult, true>({
        id: Joi.string().required().description('The uuid of the object; a word for settings pages'),
        type: Joi.string()
          .required()
          .description('devices, scripts, alerts, settings, users, organizations, or a type that another module adds'),
        title: Joi.string().required(),
        description: Joi.string(),
        href: Joi.string().description('Only for settings'),
      }),
    )
    .required(),
});
