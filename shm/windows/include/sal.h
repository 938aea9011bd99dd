// SPDX-License-Identifier: Apache-2.0
//
// Source annotations. They say who reads and writes a parameter and mean nothing to this compiler.
// Here are those of SAL 2; sal_1_1.h and sal_1.h have the older ones.
#pragma once

#include "concurrencysal.h"
#include "meterbank/windows/sal_1.h"
#include "meterbank/windows/sal_1_1.h"

#define _Analysis_assume_(condition)
#define _Analysis_assume_nullterminated_(condition)
#define __analysis_assume(condition)
#define __analysis_assert(condition)
#define __analysis_hint(value)
#define __analysis_assume_nullterminated(condition)
#define __assume_validated(condition)

#define _In_
#define _In_z_
#define _In_opt_
#define _In_opt_z_
#define _Inout_
#define _Inout_z_
#define _Inout_opt_
#define _Inout_opt_z_
#define _Out_
#define _Out_opt_
#define _Outptr_
#define _Outptr_opt_
#define _Outptr_result_maybenull_
#define _Outptr_result_maybenull_z_
#define _Outptr_result_nullonfailure_
#define _Outptr_result_z_
#define _Outptr_opt_result_maybenull_
#define _Outptr_opt_result_maybenull_z_
#define _Outptr_opt_result_nullonfailure_
#define _Outptr_opt_result_z_
#define _COM_Outptr_
#define _COM_Outptr_result_maybenull_
#define _COM_Outptr_opt_
#define _COM_Outptr_opt_result_maybenull_
#define _Outref_
#define _Outref_result_maybenull_
#define _Outref_result_nullonfailure_
#define _Result_nullonfailure_
#define _Result_zeroonfailure_
#define _Ret_maybenull_
#define _Ret_maybenull_z_
#define _Ret_notnull_
#define _Ret_null_
#define _Ret_valid_
#define _Ret_z_
#define _Reserved_
#define _Const_
#define _Literal_
#define _Notliteral_
#define _Null_
#define _Notnull_
#define _Maybenull_
#define _Valid_
#define _Notvalid_
#define _Maybevalid_
#define _Null_terminated_
#define _NullNull_terminated_
#define _Points_to_data_
#define _Notref_
#define _Field_z_
#define _Printf_format_string_
#define _Scanf_format_string_
#define _Scanf_s_format_string_
#define _Check_return_
#define _Check_return_opt_
#define _Check_return_wat_
#define _Must_inspect_result_
#define _Use_decl_annotations_
#define _Analysis_noreturn_
#define _Raises_SEH_exception_
#define _Maybe_raises_SEH_exception_
#define _Callback_
#define _Enum_is_bitflag_
#define _Strict_type_match_
#define _Interlocked_operand_
#define _Pre_
#define _Pre_maybenull_
#define _Pre_notnull_
#define _Pre_null_
#define _Pre_valid_
#define _Pre_invalid_
#define _Pre_unknown_
#define _Pre_readonly_
#define _Pre_writeonly_
#define _Pre_z_
#define _Pre_defensive_
#define _Post_
#define _Post_maybenull_
#define _Post_notnull_
#define _Post_null_
#define _Post_valid_
#define _Post_invalid_
#define _Post_ptr_invalid_
#define _Post_z_
#define _Post_maybez_
#define _Post_defensive_
#define _In_reads_(size)
#define _In_reads_opt_(size)
#define _In_reads_z_(size)
#define _In_reads_opt_z_(size)
#define _In_reads_or_z_(size)
#define _In_reads_or_z_opt_(size)
#define _In_reads_bytes_(size)
#define _In_reads_bytes_opt_(size)
#define _In_reads_to_ptr_(end)
#define _In_reads_to_ptr_opt_(end)
#define _In_reads_to_ptr_z_(end)
#define _In_reads_to_ptr_opt_z_(end)
#define _Out_writes_(size)
#define _Out_writes_opt_(size)
#define _Out_writes_z_(size)
#define _Out_writes_opt_z_(size)
#define _Out_writes_all_(size)
#define _Out_writes_all_opt_(size)
#define _Out_writes_bytes_(size)
#define _Out_writes_bytes_opt_(size)
#define _Out_writes_bytes_all_(size)
#define _Out_writes_bytes_all_opt_(size)
#define _Out_writes_to_ptr_(end)
#define _Out_writes_to_ptr_opt_(end)
#define _Out_writes_to_ptr_z_(end)
#define _Out_writes_to_ptr_opt_z_(end)
#define _Inout_updates_(size)
#define _Inout_updates_opt_(size)
#define _Inout_updates_z_(size)
#define _Inout_updates_opt_z_(size)
#define _Inout_updates_all_(size)
#define _Inout_updates_all_opt_(size)
#define _Inout_updates_bytes_(size)
#define _Inout_updates_bytes_opt_(size)
#define _Inout_updates_bytes_all_(size)
#define _Inout_updates_bytes_all_opt_(size)
#define _Outptr_result_buffer_(size)
#define _Outptr_result_buffer_maybenull_(size)
#define _Outptr_result_buffer_all_(size)
#define _Outptr_result_buffer_all_maybenull_(size)
#define _Outptr_result_bytebuffer_(size)
#define _Outptr_result_bytebuffer_maybenull_(size)
#define _Outptr_result_bytebuffer_all_(size)
#define _Outptr_result_bytebuffer_all_maybenull_(size)
#define _Outptr_opt_result_buffer_(size)
#define _Outptr_opt_result_buffer_maybenull_(size)
#define _Outptr_opt_result_buffer_all_(size)
#define _Outptr_opt_result_buffer_all_maybenull_(size)
#define _Outptr_opt_result_bytebuffer_(size)
#define _Outptr_opt_result_bytebuffer_maybenull_(size)
#define _Outptr_opt_result_bytebuffer_all_(size)
#define _Outptr_opt_result_bytebuffer_all_maybenull_(size)
#define _Outref_result_buffer_(size)
#define _Outref_result_buffer_maybenull_(size)
#define _Outref_result_buffer_all_(size)
#define _Outref_result_buffer_all_maybenull_(size)
#define _Outref_result_bytebuffer_(size)
#define _Outref_result_bytebuffer_maybenull_(size)
#define _Outref_result_bytebuffer_all_(size)
#define _Outref_result_bytebuffer_all_maybenull_(size)
#define _Ret_writes_(size)
#define _Ret_writes_bytes_(size)
#define _Ret_writes_maybenull_(size)
#define _Ret_writes_bytes_maybenull_(size)
#define _Ret_writes_z_(size)
#define _Ret_writes_maybenull_z_(size)
#define _Field_size_(size)
#define _Field_size_opt_(size)
#define _Field_size_full_(size)
#define _Field_size_full_opt_(size)
#define _Field_size_bytes_(size)
#define _Field_size_bytes_opt_(size)
#define _Field_size_bytes_full_(size)
#define _Field_size_bytes_full_opt_(size)
#define _Struct_size_bytes_(size)
#define _Readable_bytes_(size)
#define _Readable_elements_(size)
#define _Writable_bytes_(size)
#define _Writable_elements_(size)
#define _Pre_readable_size_(size)
#define _Pre_readable_byte_size_(size)
#define _Pre_writable_size_(size)
#define _Pre_writable_byte_size_(size)
#define _Post_readable_size_(size)
#define _Post_readable_byte_size_(size)
#define _Post_writable_size_(size)
#define _Post_writable_byte_size_(size)
#define _Pre_satisfies_(condition)
#define _Pre_equal_to_(value)
#define _Post_satisfies_(condition)
#define _Post_equal_to_(value)
#define _In_defensive_(annotations)
#define _Out_defensive_(annotations)
#define _Inout_defensive_(annotations)
#define _Success_(condition)
#define _On_failure_(annotations)
#define _Always_(annotations)
#define _Return_type_success_(condition)
#define _Unchanged_(value)
#define _Group_(annotations)
#define _Function_class_(name)
#define _Called_from_function_class_(name)
#define _In_function_class_(name)
#define _Printf_format_string_params_(value)
#define _Scanf_format_string_params_(value)
#define _Scanf_s_format_string_params_(value)
#define _Analysis_mode_(value)
#define _Out_writes_to_(size, used)
#define _Out_writes_to_opt_(size, used)
#define _Out_writes_bytes_to_(size, used)
#define _Out_writes_bytes_to_opt_(size, used)
#define _Inout_updates_to_(size, used)
#define _Inout_updates_to_opt_(size, used)
#define _Inout_updates_bytes_to_(size, used)
#define _Inout_updates_bytes_to_opt_(size, used)
#define _Outptr_result_buffer_to_(size, used)
#define _Outptr_result_buffer_to_maybenull_(size, used)
#define _Outptr_result_bytebuffer_to_(size, used)
#define _Outptr_result_bytebuffer_to_maybenull_(size, used)
#define _Outptr_opt_result_buffer_to_(size, used)
#define _Outptr_opt_result_buffer_to_maybenull_(size, used)
#define _Outptr_opt_result_bytebuffer_to_(size, used)
#define _Outptr_opt_result_bytebuffer_to_maybenull_(size, used)
#define _Outref_result_buffer_to_(size, used)
#define _Outref_result_buffer_to_maybenull_(size, used)
#define _Outref_result_bytebuffer_to_(size, used)
#define _Outref_result_bytebuffer_to_maybenull_(size, used)
#define _Ret_writes_to_(size, used)
#define _Ret_writes_to_maybenull_(size, used)
#define _Ret_writes_bytes_to_(size, used)
#define _Ret_writes_bytes_to_maybenull_(size, used)
#define _Field_size_part_(size, used)
#define _Field_size_part_opt_(size, used)
#define _Field_size_bytes_part_(size, used)
#define _Field_size_bytes_part_opt_(size, used)
#define _Field_range_(low, high)
#define _In_range_(low, high)
#define _Out_range_(low, high)
#define _Ret_range_(low, high)
#define _Deref_in_range_(low, high)
#define _Deref_out_range_(low, high)
#define _Deref_inout_range_(low, high)
#define _Deref_ret_range_(low, high)
#define _At_(target, annotations)
#define _When_(condition, annotations)
#define _At_buffer_(target, index, bound, annotations)
