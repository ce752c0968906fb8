/** Query and answer of GET /search. */
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
    // No stored text has one, and the database refuses it.
    .pattern(/^[^\0]*$/)
    .required()
    .description('A part of what is looked for; upper and lower case are the same, % and _ are plain characters'),
  limit: Joi.number().integer().min(1).max(50).default(20).description('Results in all'),
});

export const searchAnswer = Joi.object({
  results: Joi.array()
    .items(
      Joi.object<SearchResult, true>({
        id: Joi.string().required().description('A settings page has a word, everything else its uuid'),
        type: Joi.string()
          .required()
          .description('devices, scripts, alerts, settings, users, organizations, or what a further module adds'),
        title: Joi.string().required(),
        description: Joi.string(),
        href: Joi.string().description('Of settings only'),
      }),
    )
    .required(),
});
