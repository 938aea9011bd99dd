// SPDX-License-Identifier: Apache-2.0
//
// Every annotation, in front of declarations that are valid only where each of them is known and
// empty. C and C++; the build compiles it by each standard.
#include <specstrings.h>

// clang-format off

// ---- SAL 2 ----
_In_
_In_z_
_In_opt_
_In_opt_z_
_Inout_
_Inout_z_
_Inout_opt_
_Inout_opt_z_
_Out_
_Out_opt_
_Outptr_
_Outptr_opt_
_Outptr_result_maybenull_
_Outptr_result_maybenull_z_
_Outptr_result_nullonfailure_
_Outptr_result_z_
_Outptr_opt_result_maybenull_
_Outptr_opt_result_maybenull_z_
_Outptr_opt_result_nullonfailure_
_Outptr_opt_result_z_
_COM_Outptr_
_COM_Outptr_result_maybenull_
_COM_Outptr_opt_
_COM_Outptr_opt_result_maybenull_
_Outref_
_Outref_result_maybenull_
_Outref_result_nullonfailure_
_Result_nullonfailure_
_Result_zeroonfailure_
_Ret_maybenull_
_Ret_maybenull_z_
_Ret_notnull_
_Ret_null_
_Ret_valid_
_Ret_z_
_Reserved_
_Const_
_Literal_
_Notliteral_
_Null_
_Notnull_
_Maybenull_
_Valid_
_Notvalid_
_Maybevalid_
_Null_terminated_
_NullNull_terminated_
_Points_to_data_
_Notref_
_Field_z_
_Printf_format_string_
_Scanf_format_string_
_Scanf_s_format_string_
_Check_return_
_Check_return_opt_
_Check_return_wat_
_Must_inspect_result_
_Use_decl_annotations_
_Analysis_noreturn_
_Raises_SEH_exception_
_Maybe_raises_SEH_exception_
_Callback_
_Enum_is_bitflag_
_Strict_type_match_
_Interlocked_operand_
_Pre_
_Pre_maybenull_
_Pre_notnull_
_Pre_null_
_Pre_valid_
_Pre_invalid_
_Pre_unknown_
_Pre_readonly_
_Pre_writeonly_
_Pre_z_
_Pre_defensive_
_Post_
_Post_maybenull_
_Post_notnull_
_Post_null_
_Post_valid_
_Post_invalid_
_Post_ptr_invalid_
_Post_z_
_Post_maybez_
_Post_defensive_
_In_reads_(1)
_In_reads_opt_(1)
_In_reads_z_(1)
_In_reads_opt_z_(1)
_In_reads_or_z_(1)
_In_reads_or_z_opt_(1)
_In_reads_bytes_(1)
_In_reads_bytes_opt_(1)
_In_reads_to_ptr_(1)
_In_reads_to_ptr_opt_(1)
_In_reads_to_ptr_z_(1)
_In_reads_to_ptr_opt_z_(1)
_Out_writes_(1)
_Out_writes_opt_(1)
_Out_writes_z_(1)
_Out_writes_opt_z_(1)
_Out_writes_all_(1)
_Out_writes_all_opt_(1)
_Out_writes_bytes_(1)
_Out_writes_bytes_opt_(1)
_Out_writes_bytes_all_(1)
_Out_writes_bytes_all_opt_(1)
_Out_writes_to_ptr_(1)
_Out_writes_to_ptr_opt_(1)
_Out_writes_to_ptr_z_(1)
_Out_writes_to_ptr_opt_z_(1)
_Inout_updates_(1)
_Inout_updates_opt_(1)
_Inout_updates_z_(1)
_Inout_updates_opt_z_(1)
_Inout_updates_all_(1)
_Inout_updates_all_opt_(1)
_Inout_updates_bytes_(1)
_Inout_updates_bytes_opt_(1)
_Inout_updates_bytes_all_(1)
_Inout_updates_bytes_all_opt_(1)
_Outptr_result_buffer_(1)
_Outptr_result_buffer_maybenull_(1)
_Outptr_result_buffer_all_(1)
_Outptr_result_buffer_all_maybenull_(1)
_Outptr_result_bytebuffer_(1)
_Outptr_result_bytebuffer_maybenull_(1)
_Outptr_result_bytebuffer_all_(1)
_Outptr_result_bytebuffer_all_maybenull_(1)
_Outptr_opt_result_buffer_(1)
_Outptr_opt_result_buffer_maybenull_(1)
_Outptr_opt_result_buffer_all_(1)
_Outptr_opt_result_buffer_all_maybenull_(1)
_Outptr_opt_result_bytebuffer_(1)
_Outptr_opt_result_bytebuffer_maybenull_(1)
_Outptr_opt_result_bytebuffer_all_(1)
_Outptr_opt_result_bytebuffer_all_maybenull_(1)
_Outref_result_buffer_(1)
_Outref_result_buffer_maybenull_(1)
_Outref_result_buffer_all_(1)
_Outref_result_buffer_all_maybenull_(1)
_Outref_result_bytebuffer_(1)
_Outref_result_bytebuffer_maybenull_(1)
_Outref_result_bytebuffer_all_(1)
_Outref_result_bytebuffer_all_maybenull_(1)
_Ret_writes_(1)
_Ret_writes_bytes_(1)
_Ret_writes_maybenull_(1)
_Ret_writes_bytes_maybenull_(1)
_Ret_writes_z_(1)
_Ret_writes_maybenull_z_(1)
_Field_size_(1)
_Field_size_opt_(1)
_Field_size_full_(1)
_Field_size_full_opt_(1)
_Field_size_bytes_(1)
_Field_size_bytes_opt_(1)
_Field_size_bytes_full_(1)
_Field_size_bytes_full_opt_(1)
_Struct_size_bytes_(1)
_Readable_bytes_(1)
_Readable_elements_(1)
_Writable_bytes_(1)
_Writable_elements_(1)
_Pre_readable_size_(1)
_Pre_readable_byte_size_(1)
_Pre_writable_size_(1)
_Pre_writable_byte_size_(1)
_Post_readable_size_(1)
_Post_readable_byte_size_(1)
_Post_writable_size_(1)
_Post_writable_byte_size_(1)
_Pre_satisfies_(1)
_Pre_equal_to_(1)
_Post_satisfies_(1)
_Post_equal_to_(1)
_In_defensive_(1)
_Out_defensive_(1)
_Inout_defensive_(1)
_Success_(1)
_On_failure_(1)
_Always_(1)
_Return_type_success_(1)
_Unchanged_(1)
_Group_(1)
_Function_class_(1)
_Called_from_function_class_(1)
_In_function_class_(1)
_Printf_format_string_params_(1)
_Scanf_format_string_params_(1)
_Scanf_s_format_string_params_(1)
_Analysis_mode_(1)
_Out_writes_to_(1, 2)
_Out_writes_to_opt_(1, 2)
_Out_writes_bytes_to_(1, 2)
_Out_writes_bytes_to_opt_(1, 2)
_Inout_updates_to_(1, 2)
_Inout_updates_to_opt_(1, 2)
_Inout_updates_bytes_to_(1, 2)
_Inout_updates_bytes_to_opt_(1, 2)
_Outptr_result_buffer_to_(1, 2)
_Outptr_result_buffer_to_maybenull_(1, 2)
_Outptr_result_bytebuffer_to_(1, 2)
_Outptr_result_bytebuffer_to_maybenull_(1, 2)
_Outptr_opt_result_buffer_to_(1, 2)
_Outptr_opt_result_buffer_to_maybenull_(1, 2)
_Outptr_opt_result_bytebuffer_to_(1, 2)
_Outptr_opt_result_bytebuffer_to_maybenull_(1, 2)
_Outref_result_buffer_to_(1, 2)
_Outref_result_buffer_to_maybenull_(1, 2)
_Outref_result_bytebuffer_to_(1, 2)
_Outref_result_bytebuffer_to_maybenull_(1, 2)
_Ret_writes_to_(1, 2)
_Ret_writes_to_maybenull_(1, 2)
_Ret_writes_bytes_to_(1, 2)
_Ret_writes_bytes_to_maybenull_(1, 2)
_Field_size_part_(1, 2)
_Field_size_part_opt_(1, 2)
_Field_size_bytes_part_(1, 2)
_Field_size_bytes_part_opt_(1, 2)
_Field_range_(1, 2)
_In_range_(1, 2)
_Out_range_(1, 2)
_Ret_range_(1, 2)
_Deref_in_range_(1, 2)
_Deref_out_range_(1, 2)
_Deref_inout_range_(1, 2)
_Deref_ret_range_(1, 2)
_At_(1, 2)
_When_(1, 2)
_At_buffer_(1, 2, 3, 4)
_Analysis_assume_(1)
_Analysis_assume_nullterminated_(1)
__analysis_assume(1)
__analysis_assert(1)
__analysis_hint(1)
__analysis_assume_nullterminated(1)
__assume_validated(1)
extern int nothing_is_left_of_sal_2;

// ---- between SAL 1 and SAL 2 ----
_In_bound_
_Out_bound_
_Ret_bound_
_Deref_in_bound_
_Deref_out_bound_
_Deref_inout_bound_
_Deref_ret_bound_
_Deref_inout_z_
_Deref_out_
_Deref_out_z_
_Deref_out_opt_
_Deref_out_opt_z_
_Deref_opt_out_
_Deref_opt_out_z_
_Deref_opt_out_opt_
_Deref_opt_out_opt_z_
_Deref_pre_maybenull_
_Deref_pre_notnull_
_Deref_pre_null_
_Deref_post_maybenull_
_Deref_post_notnull_
_Deref_post_null_
_Deref_pre_invalid_
_Deref_pre_readonly_
_Deref_pre_writeonly_
_Deref2_pre_readonly_
_Deref_pre_valid_
_Deref_pre_z_
_Deref_pre_opt_valid_
_Deref_pre_opt_z_
_Deref_post_valid_
_Deref_post_z_
_Deref_post_opt_valid_
_Deref_post_opt_z_
_Deref_prepost_valid_
_Deref_prepost_z_
_Deref_prepost_opt_valid_
_Deref_prepost_opt_z_
_Deref_ret_z_
_Deref_ret_opt_z_
_Pre_opt_valid_
_Pre_opt_z_
_Pre_cap_c_one_
_Pre_opt_cap_c_one_
_Prepost_valid_
_Prepost_z_
_Prepost_opt_valid_
_Prepost_opt_z_
_Ret_
_Ret_opt_
_Ret_opt_valid_
_Ret_opt_z_
_Deref_inout_z_bytecap_c_(1)
_Deref_inout_z_cap_c_(1)
_Deref_out_z_bytecap_c_(1)
_Deref_out_z_cap_c_(1)
_Deref_pre_bytecap_(1)
_Deref_pre_bytecap_c_(1)
_Deref_pre_bytecap_x_(1)
_Deref_pre_bytecount_(1)
_Deref_pre_bytecount_c_(1)
_Deref_pre_bytecount_x_(1)
_Deref_pre_cap_(1)
_Deref_pre_cap_c_(1)
_Deref_pre_cap_x_(1)
_Deref_pre_count_(1)
_Deref_pre_count_c_(1)
_Deref_pre_count_x_(1)
_Deref_pre_opt_bytecap_(1)
_Deref_pre_opt_bytecap_c_(1)
_Deref_pre_opt_bytecap_x_(1)
_Deref_pre_opt_bytecount_(1)
_Deref_pre_opt_bytecount_c_(1)
_Deref_pre_opt_bytecount_x_(1)
_Deref_pre_opt_cap_(1)
_Deref_pre_opt_cap_c_(1)
_Deref_pre_opt_cap_x_(1)
_Deref_pre_opt_count_(1)
_Deref_pre_opt_count_c_(1)
_Deref_pre_opt_count_x_(1)
_Deref_post_bytecap_(1)
_Deref_post_bytecap_c_(1)
_Deref_post_bytecap_x_(1)
_Deref_post_bytecount_(1)
_Deref_post_bytecount_c_(1)
_Deref_post_bytecount_x_(1)
_Deref_post_cap_(1)
_Deref_post_cap_c_(1)
_Deref_post_cap_x_(1)
_Deref_post_count_(1)
_Deref_post_count_c_(1)
_Deref_post_count_x_(1)
_Deref_post_opt_bytecap_(1)
_Deref_post_opt_bytecap_c_(1)
_Deref_post_opt_bytecap_x_(1)
_Deref_post_opt_bytecount_(1)
_Deref_post_opt_bytecount_c_(1)
_Deref_post_opt_bytecount_x_(1)
_Deref_post_opt_cap_(1)
_Deref_post_opt_cap_c_(1)
_Deref_post_opt_cap_x_(1)
_Deref_post_opt_count_(1)
_Deref_post_opt_count_c_(1)
_Deref_post_opt_count_x_(1)
_Deref_pre_valid_bytecap_(1)
_Deref_pre_valid_bytecap_c_(1)
_Deref_pre_valid_bytecap_x_(1)
_Deref_pre_valid_cap_(1)
_Deref_pre_valid_cap_c_(1)
_Deref_pre_valid_cap_x_(1)
_Deref_pre_z_bytecap_(1)
_Deref_pre_z_bytecap_c_(1)
_Deref_pre_z_bytecap_x_(1)
_Deref_pre_z_cap_(1)
_Deref_pre_z_cap_c_(1)
_Deref_pre_z_cap_x_(1)
_Deref_pre_opt_valid_bytecap_(1)
_Deref_pre_opt_valid_bytecap_c_(1)
_Deref_pre_opt_valid_bytecap_x_(1)
_Deref_pre_opt_valid_cap_(1)
_Deref_pre_opt_valid_cap_c_(1)
_Deref_pre_opt_valid_cap_x_(1)
_Deref_pre_opt_z_bytecap_(1)
_Deref_pre_opt_z_bytecap_c_(1)
_Deref_pre_opt_z_bytecap_x_(1)
_Deref_pre_opt_z_cap_(1)
_Deref_pre_opt_z_cap_c_(1)
_Deref_pre_opt_z_cap_x_(1)
_Deref_post_valid_bytecap_(1)
_Deref_post_valid_bytecap_c_(1)
_Deref_post_valid_bytecap_x_(1)
_Deref_post_valid_cap_(1)
_Deref_post_valid_cap_c_(1)
_Deref_post_valid_cap_x_(1)
_Deref_post_z_bytecap_(1)
_Deref_post_z_bytecap_c_(1)
_Deref_post_z_bytecap_x_(1)
_Deref_post_z_cap_(1)
_Deref_post_z_cap_c_(1)
_Deref_post_z_cap_x_(1)
_Deref_post_opt_valid_bytecap_(1)
_Deref_post_opt_valid_bytecap_c_(1)
_Deref_post_opt_valid_bytecap_x_(1)
_Deref_post_opt_valid_cap_(1)
_Deref_post_opt_valid_cap_c_(1)
_Deref_post_opt_valid_cap_x_(1)
_Deref_post_opt_z_bytecap_(1)
_Deref_post_opt_z_bytecap_c_(1)
_Deref_post_opt_z_bytecap_x_(1)
_Deref_post_opt_z_cap_(1)
_Deref_post_opt_z_cap_c_(1)
_Deref_post_opt_z_cap_x_(1)
_Deref_prepost_bytecap_(1)
_Deref_prepost_bytecap_x_(1)
_Deref_prepost_bytecount_(1)
_Deref_prepost_bytecount_x_(1)
_Deref_prepost_cap_(1)
_Deref_prepost_cap_x_(1)
_Deref_prepost_count_(1)
_Deref_prepost_count_x_(1)
_Deref_prepost_opt_bytecap_(1)
_Deref_prepost_opt_bytecap_x_(1)
_Deref_prepost_opt_bytecount_(1)
_Deref_prepost_opt_bytecount_x_(1)
_Deref_prepost_opt_cap_(1)
_Deref_prepost_opt_cap_x_(1)
_Deref_prepost_opt_count_(1)
_Deref_prepost_opt_count_x_(1)
_Deref_prepost_valid_bytecap_(1)
_Deref_prepost_valid_bytecap_x_(1)
_Deref_prepost_valid_cap_(1)
_Deref_prepost_valid_cap_x_(1)
_Deref_prepost_opt_valid_bytecap_(1)
_Deref_prepost_opt_valid_bytecap_x_(1)
_Deref_prepost_opt_valid_cap_(1)
_Deref_prepost_opt_valid_cap_x_(1)
_Deref_prepost_z_bytecap_(1)
_Deref_prepost_z_cap_(1)
_Deref_prepost_opt_z_bytecap_(1)
_Deref_prepost_opt_z_cap_(1)
_In_bytecount_(1)
_In_bytecount_c_(1)
_In_bytecount_x_(1)
_In_count_(1)
_In_count_c_(1)
_In_count_x_(1)
_In_opt_bytecount_(1)
_In_opt_bytecount_c_(1)
_In_opt_bytecount_x_(1)
_In_opt_count_(1)
_In_opt_count_c_(1)
_In_opt_count_x_(1)
_In_z_bytecount_(1)
_In_z_bytecount_c_(1)
_In_z_count_(1)
_In_z_count_c_(1)
_In_opt_z_bytecount_(1)
_In_opt_z_bytecount_c_(1)
_In_opt_z_count_(1)
_In_opt_z_count_c_(1)
_In_ptrdiff_count_(1)
_In_opt_ptrdiff_count_(1)
_Inout_bytecap_(1)
_Inout_bytecap_c_(1)
_Inout_bytecap_x_(1)
_Inout_bytecount_(1)
_Inout_bytecount_c_(1)
_Inout_bytecount_x_(1)
_Inout_cap_(1)
_Inout_cap_c_(1)
_Inout_cap_x_(1)
_Inout_count_(1)
_Inout_count_c_(1)
_Inout_count_x_(1)
_Inout_opt_bytecap_(1)
_Inout_opt_bytecap_c_(1)
_Inout_opt_bytecap_x_(1)
_Inout_opt_bytecount_(1)
_Inout_opt_bytecount_c_(1)
_Inout_opt_bytecount_x_(1)
_Inout_opt_cap_(1)
_Inout_opt_cap_c_(1)
_Inout_opt_cap_x_(1)
_Inout_opt_count_(1)
_Inout_opt_count_c_(1)
_Inout_opt_count_x_(1)
_Inout_z_bytecap_(1)
_Inout_z_bytecap_c_(1)
_Inout_z_bytecap_x_(1)
_Inout_z_cap_(1)
_Inout_z_cap_c_(1)
_Inout_z_cap_x_(1)
_Inout_opt_z_bytecap_(1)
_Inout_opt_z_bytecap_c_(1)
_Inout_opt_z_bytecap_x_(1)
_Inout_opt_z_cap_(1)
_Inout_opt_z_cap_c_(1)
_Inout_opt_z_cap_x_(1)
_Inout_z_bytecount_(1)
_Inout_z_bytecount_c_(1)
_Inout_z_count_(1)
_Inout_z_count_c_(1)
_Inout_opt_z_bytecount_(1)
_Inout_opt_z_bytecount_c_(1)
_Inout_opt_z_count_(1)
_Inout_opt_z_count_c_(1)
_Inout_ptrdiff_count_(1)
_Inout_opt_ptrdiff_count_(1)
_Out_bytecap_(1)
_Out_bytecap_c_(1)
_Out_bytecap_x_(1)
_Out_cap_(1)
_Out_cap_c_(1)
_Out_cap_x_(1)
_Out_opt_bytecap_(1)
_Out_opt_bytecap_c_(1)
_Out_opt_bytecap_x_(1)
_Out_opt_cap_(1)
_Out_opt_cap_c_(1)
_Out_opt_cap_x_(1)
_Out_bytecapcount_(1)
_Out_bytecapcount_x_(1)
_Out_capcount_(1)
_Out_capcount_x_(1)
_Out_opt_bytecapcount_(1)
_Out_opt_bytecapcount_x_(1)
_Out_opt_capcount_(1)
_Out_opt_capcount_x_(1)
_Out_z_bytecap_(1)
_Out_z_bytecap_c_(1)
_Out_z_bytecap_x_(1)
_Out_z_cap_(1)
_Out_z_cap_c_(1)
_Out_z_cap_x_(1)
_Out_opt_z_bytecap_(1)
_Out_opt_z_bytecap_c_(1)
_Out_opt_z_bytecap_x_(1)
_Out_opt_z_cap_(1)
_Out_opt_z_cap_c_(1)
_Out_opt_z_cap_x_(1)
_Out_z_bytecapcount_(1)
_Out_z_capcount_(1)
_Out_opt_z_bytecapcount_(1)
_Out_opt_z_capcount_(1)
_Out_ptrdiff_cap_(1)
_Out_opt_ptrdiff_cap_(1)
_Pre_bytecap_(1)
_Pre_bytecap_c_(1)
_Pre_bytecap_x_(1)
_Pre_bytecount_(1)
_Pre_bytecount_c_(1)
_Pre_bytecount_x_(1)
_Pre_cap_(1)
_Pre_cap_c_(1)
_Pre_cap_x_(1)
_Pre_count_(1)
_Pre_count_c_(1)
_Pre_count_x_(1)
_Pre_opt_bytecap_(1)
_Pre_opt_bytecap_c_(1)
_Pre_opt_bytecap_x_(1)
_Pre_opt_bytecount_(1)
_Pre_opt_bytecount_c_(1)
_Pre_opt_bytecount_x_(1)
_Pre_opt_cap_(1)
_Pre_opt_cap_c_(1)
_Pre_opt_cap_x_(1)
_Pre_opt_count_(1)
_Pre_opt_count_c_(1)
_Pre_opt_count_x_(1)
_Pre_valid_bytecap_(1)
_Pre_valid_bytecap_c_(1)
_Pre_valid_bytecap_x_(1)
_Pre_valid_cap_(1)
_Pre_valid_cap_c_(1)
_Pre_valid_cap_x_(1)
_Pre_z_bytecap_(1)
_Pre_z_bytecap_c_(1)
_Pre_z_bytecap_x_(1)
_Pre_z_cap_(1)
_Pre_z_cap_c_(1)
_Pre_z_cap_x_(1)
_Pre_opt_valid_bytecap_(1)
_Pre_opt_valid_bytecap_c_(1)
_Pre_opt_valid_bytecap_x_(1)
_Pre_opt_valid_cap_(1)
_Pre_opt_valid_cap_c_(1)
_Pre_opt_valid_cap_x_(1)
_Pre_opt_z_bytecap_(1)
_Pre_opt_z_bytecap_c_(1)
_Pre_opt_z_bytecap_x_(1)
_Pre_opt_z_cap_(1)
_Pre_opt_z_cap_c_(1)
_Pre_opt_z_cap_x_(1)
_Pre_cap_for_(1)
_Pre_opt_cap_for_(1)
_Pre_ptrdiff_cap_(1)
_Pre_ptrdiff_count_(1)
_Pre_opt_ptrdiff_cap_(1)
_Pre_opt_ptrdiff_count_(1)
_Post_bytecap_(1)
_Post_cap_(1)
_Post_bytecount_(1)
_Post_bytecount_c_(1)
_Post_bytecount_x_(1)
_Post_count_(1)
_Post_count_c_(1)
_Post_count_x_(1)
_Post_z_bytecount_(1)
_Post_z_bytecount_c_(1)
_Post_z_bytecount_x_(1)
_Post_z_count_(1)
_Post_z_count_c_(1)
_Post_z_count_x_(1)
_Prepost_bytecount_(1)
_Prepost_bytecount_c_(1)
_Prepost_bytecount_x_(1)
_Prepost_count_(1)
_Prepost_count_c_(1)
_Prepost_count_x_(1)
_Prepost_opt_bytecount_(1)
_Prepost_opt_bytecount_c_(1)
_Prepost_opt_bytecount_x_(1)
_Prepost_opt_count_(1)
_Prepost_opt_count_c_(1)
_Prepost_opt_count_x_(1)
_Ret_bytecap_(1)
_Ret_bytecap_c_(1)
_Ret_bytecap_x_(1)
_Ret_bytecount_(1)
_Ret_bytecount_c_(1)
_Ret_bytecount_x_(1)
_Ret_cap_(1)
_Ret_cap_c_(1)
_Ret_cap_x_(1)
_Ret_count_(1)
_Ret_count_c_(1)
_Ret_count_x_(1)
_Ret_opt_bytecap_(1)
_Ret_opt_bytecap_c_(1)
_Ret_opt_bytecap_x_(1)
_Ret_opt_bytecount_(1)
_Ret_opt_bytecount_c_(1)
_Ret_opt_bytecount_x_(1)
_Ret_opt_cap_(1)
_Ret_opt_cap_c_(1)
_Ret_opt_cap_x_(1)
_Ret_opt_count_(1)
_Ret_opt_count_c_(1)
_Ret_opt_count_x_(1)
_Ret_z_bytecap_(1)
_Ret_z_bytecount_(1)
_Ret_z_cap_(1)
_Ret_z_count_(1)
_Ret_opt_z_bytecap_(1)
_Ret_opt_z_bytecount_(1)
_Ret_opt_z_cap_(1)
_Ret_opt_z_count_(1)
_Out_bytecap_post_bytecount_(1, 2)
_Out_z_bytecap_post_bytecount_(1, 2)
_Out_opt_bytecap_post_bytecount_(1, 2)
_Out_opt_z_bytecap_post_bytecount_(1, 2)
_Out_cap_post_count_(1, 2)
_Out_z_cap_post_count_(1, 2)
_Out_opt_cap_post_count_(1, 2)
_Out_opt_z_cap_post_count_(1, 2)
_Out_cap_m_(1, 2)
_Out_z_cap_m_(1, 2)
_Out_opt_cap_m_(1, 2)
_Out_opt_z_cap_m_(1, 2)
_Pre_cap_m_(1, 2)
_Pre_opt_cap_m_(1, 2)
extern int nothing_is_left_of_between_sal_1_and_sal_2;

// ---- SAL 1 ----
__in_opt
__in_z
__in_z_opt
__in_nz
__in_nz_opt
__out_opt
__out_z
__out_z_opt
__out_nz
__out_nz_opt
__inout
__inout_opt
__inout_z
__inout_z_opt
__inout_nz
__inout_nz_opt
__deref_in
__deref_in_opt
__deref_in_z
__deref_in_z_opt
__deref_in_nz
__deref_in_nz_opt
__deref_out
__deref_out_opt
__deref_out_z
__deref_out_z_opt
__deref_out_nz
__deref_out_nz_opt
__deref_inout
__deref_inout_opt
__deref_inout_z
__deref_inout_z_opt
__deref_inout_nz
__deref_inout_nz_opt
__deref_opt_in
__deref_opt_in_opt
__deref_opt_in_z
__deref_opt_in_z_opt
__deref_opt_in_nz
__deref_opt_in_nz_opt
__deref_opt_out
__deref_opt_out_opt
__deref_opt_out_z
__deref_opt_out_z_opt
__deref_opt_out_nz
__deref_opt_out_nz_opt
__deref_opt_inout
__deref_opt_inout_opt
__deref_opt_inout_z
__deref_opt_inout_z_opt
__deref_opt_inout_nz
__deref_opt_inout_nz_opt
__deref_in_opt_out
__nullterminated
__nullnullterminated
__possibly_notnullterminated
__checkReturn
__override
__callback
__format_string
__fallthrough
__in_bound
__out_bound
__deref_out_bound
__allocator
__post_invalid
__post_nullnullterminated
__notnull
__maybenull
__exceptthat
__field_nullterminated
__rpc_entry
__kernel_entry
__gdi_entry
__encoded_pointer
__encoded_array
__field_encoded_pointer
__field_encoded_array
__nonvolatile
__deref_volatile
__deref_nonvolatile
__deref
__post
__maybevalid
__readonly
__notvalid
__refparam
__inner_exceptthat
__inner_callback
__analysis_noreturn
__ecount(1)
__ecount_opt(1)
__bcount(1)
__bcount_opt(1)
__xcount(1)
__xcount_opt(1)
__in_ecount(1)
__in_ecount_opt(1)
__in_bcount(1)
__in_bcount_opt(1)
__in_xcount(1)
__in_xcount_opt(1)
__out_ecount(1)
__out_ecount_opt(1)
__out_ecount_full(1)
__out_ecount_full_opt(1)
__out_bcount(1)
__out_bcount_opt(1)
__out_bcount_full(1)
__out_bcount_full_opt(1)
__out_xcount(1)
__out_xcount_opt(1)
__out_xcount_full(1)
__out_xcount_full_opt(1)
__inout_ecount(1)
__inout_ecount_opt(1)
__inout_ecount_full(1)
__inout_ecount_full_opt(1)
__inout_bcount(1)
__inout_bcount_opt(1)
__inout_bcount_full(1)
__inout_bcount_full_opt(1)
__inout_xcount(1)
__inout_xcount_opt(1)
__inout_xcount_full(1)
__inout_xcount_full_opt(1)
__in_ecount_z(1)
__in_ecount_z_opt(1)
__in_ecount_nz(1)
__in_ecount_nz_opt(1)
__in_bcount_z(1)
__in_bcount_z_opt(1)
__in_bcount_nz(1)
__in_bcount_nz_opt(1)
__out_ecount_z(1)
__out_ecount_z_opt(1)
__out_ecount_nz(1)
__out_ecount_nz_opt(1)
__out_bcount_z(1)
__out_bcount_z_opt(1)
__out_bcount_nz(1)
__out_bcount_nz_opt(1)
__inout_ecount_z(1)
__inout_ecount_z_opt(1)
__inout_ecount_nz(1)
__inout_ecount_nz_opt(1)
__inout_bcount_z(1)
__inout_bcount_z_opt(1)
__inout_bcount_nz(1)
__inout_bcount_nz_opt(1)
__deref_ecount(1)
__deref_ecount_opt(1)
__deref_bcount(1)
__deref_bcount_opt(1)
__deref_xcount(1)
__deref_xcount_opt(1)
__deref_opt_ecount(1)
__deref_opt_ecount_opt(1)
__deref_opt_bcount(1)
__deref_opt_bcount_opt(1)
__deref_opt_xcount(1)
__deref_opt_xcount_opt(1)
__deref_in_ecount(1)
__deref_in_ecount_opt(1)
__deref_in_bcount(1)
__deref_in_bcount_opt(1)
__deref_in_xcount(1)
__deref_in_xcount_opt(1)
__deref_opt_in_ecount(1)
__deref_opt_in_ecount_opt(1)
__deref_opt_in_bcount(1)
__deref_opt_in_bcount_opt(1)
__deref_opt_in_xcount(1)
__deref_opt_in_xcount_opt(1)
__deref_out_ecount(1)
__deref_out_ecount_opt(1)
__deref_out_ecount_full(1)
__deref_out_ecount_full_opt(1)
__deref_out_bcount(1)
__deref_out_bcount_opt(1)
__deref_out_bcount_full(1)
__deref_out_bcount_full_opt(1)
__deref_out_xcount(1)
__deref_out_xcount_opt(1)
__deref_out_xcount_full(1)
__deref_out_xcount_full_opt(1)
__deref_inout_ecount(1)
__deref_inout_ecount_opt(1)
__deref_inout_ecount_full(1)
__deref_inout_ecount_full_opt(1)
__deref_inout_bcount(1)
__deref_inout_bcount_opt(1)
__deref_inout_bcount_full(1)
__deref_inout_bcount_full_opt(1)
__deref_inout_xcount(1)
__deref_inout_xcount_opt(1)
__deref_inout_xcount_full(1)
__deref_inout_xcount_full_opt(1)
__deref_opt_out_ecount(1)
__deref_opt_out_ecount_opt(1)
__deref_opt_out_ecount_full(1)
__deref_opt_out_ecount_full_opt(1)
__deref_opt_out_bcount(1)
__deref_opt_out_bcount_opt(1)
__deref_opt_out_bcount_full(1)
__deref_opt_out_bcount_full_opt(1)
__deref_opt_out_xcount(1)
__deref_opt_out_xcount_opt(1)
__deref_opt_out_xcount_full(1)
__deref_opt_out_xcount_full_opt(1)
__deref_opt_inout_ecount(1)
__deref_opt_inout_ecount_opt(1)
__deref_opt_inout_ecount_full(1)
__deref_opt_inout_ecount_full_opt(1)
__deref_opt_inout_bcount(1)
__deref_opt_inout_bcount_opt(1)
__deref_opt_inout_bcount_full(1)
__deref_opt_inout_bcount_full_opt(1)
__deref_opt_inout_xcount(1)
__deref_opt_inout_xcount_opt(1)
__deref_opt_inout_xcount_full(1)
__deref_opt_inout_xcount_full_opt(1)
__deref_out_ecount_z(1)
__deref_out_ecount_z_opt(1)
__deref_out_ecount_nz(1)
__deref_out_ecount_nz_opt(1)
__deref_out_bcount_z(1)
__deref_out_bcount_z_opt(1)
__deref_out_bcount_nz(1)
__deref_out_bcount_nz_opt(1)
__deref_inout_ecount_z(1)
__deref_inout_ecount_z_opt(1)
__deref_inout_ecount_nz(1)
__deref_inout_ecount_nz_opt(1)
__deref_inout_bcount_z(1)
__deref_inout_bcount_z_opt(1)
__deref_inout_bcount_nz(1)
__deref_inout_bcount_nz_opt(1)
__deref_opt_out_ecount_z(1)
__deref_opt_out_ecount_z_opt(1)
__deref_opt_out_ecount_nz(1)
__deref_opt_out_ecount_nz_opt(1)
__deref_opt_out_bcount_z(1)
__deref_opt_out_bcount_z_opt(1)
__deref_opt_out_bcount_nz(1)
__deref_opt_out_bcount_nz_opt(1)
__deref_opt_inout_ecount_z(1)
__deref_opt_inout_ecount_z_opt(1)
__deref_opt_inout_ecount_nz(1)
__deref_opt_inout_ecount_nz_opt(1)
__deref_opt_inout_bcount_z(1)
__deref_opt_inout_bcount_z_opt(1)
__deref_opt_inout_bcount_nz(1)
__deref_opt_inout_bcount_nz_opt(1)
__field_ecount(1)
__field_ecount_opt(1)
__field_ecount_full(1)
__field_ecount_full_opt(1)
__field_bcount(1)
__field_bcount_opt(1)
__field_bcount_full(1)
__field_bcount_full_opt(1)
__field_xcount(1)
__field_xcount_opt(1)
__field_xcount_full(1)
__field_xcount_full_opt(1)
__struct_bcount(1)
__struct_xcount(1)
__success(1)
__typefix(1)
__inner_typefix(1)
__blocksOn(1)
__assume_bound(1)
__deallocate(1)
__deallocate_opt(1)
__control_entrypoint(1)
__data_entrypoint(1)
__in_data_source(1)
__out_data_source(1)
__field_data_source(1)
__this_out_data_source(1)
__out_validated(1)
__this_out_validated(1)
__file_parser(1)
__file_parser_class(1)
__file_parser_library(1)
__source_code_content(1)
__class_code_content(1)
__transfer(1)
__out_transfer_adt_prop(1)
__out_has_type_adt_props(1)
__readableTo(1)
__writableTo(1)
__byte_readableTo(1)
__byte_writableTo(1)
__elem_readableTo(1)
__elem_writableTo(1)
__inexpressible_readableTo(1)
__precond(1)
__allowed(1)
__out_ecount_part(1, 2)
__out_ecount_part_opt(1, 2)
__out_bcount_part(1, 2)
__out_bcount_part_opt(1, 2)
__out_xcount_part(1, 2)
__out_xcount_part_opt(1, 2)
__inout_ecount_part(1, 2)
__inout_ecount_part_opt(1, 2)
__inout_bcount_part(1, 2)
__inout_bcount_part_opt(1, 2)
__inout_xcount_part(1, 2)
__inout_xcount_part_opt(1, 2)
__deref_out_ecount_part(1, 2)
__deref_out_ecount_part_opt(1, 2)
__deref_out_bcount_part(1, 2)
__deref_out_bcount_part_opt(1, 2)
__deref_out_xcount_part(1, 2)
__deref_out_xcount_part_opt(1, 2)
__deref_inout_ecount_part(1, 2)
__deref_inout_ecount_part_opt(1, 2)
__deref_inout_bcount_part(1, 2)
__deref_inout_bcount_part_opt(1, 2)
__deref_inout_xcount_part(1, 2)
__deref_inout_xcount_part_opt(1, 2)
__deref_opt_out_ecount_part(1, 2)
__deref_opt_out_ecount_part_opt(1, 2)
__deref_opt_out_bcount_part(1, 2)
__deref_opt_out_bcount_part_opt(1, 2)
__deref_opt_out_xcount_part(1, 2)
__deref_opt_out_xcount_part_opt(1, 2)
__deref_opt_inout_ecount_part(1, 2)
__deref_opt_inout_ecount_part_opt(1, 2)
__deref_opt_inout_bcount_part(1, 2)
__deref_opt_inout_bcount_part_opt(1, 2)
__deref_opt_inout_xcount_part(1, 2)
__deref_opt_inout_xcount_part_opt(1, 2)
__field_ecount_part(1, 2)
__field_ecount_part_opt(1, 2)
__field_bcount_part(1, 2)
__field_bcount_part_opt(1, 2)
__field_xcount_part(1, 2)
__field_xcount_part_opt(1, 2)
__in_awcount(1, 2)
__out_awcount(1, 2)
__range(1, 2)
__in_range(1, 2)
__out_range(1, 2)
__field_range(1, 2)
__deref_in_range(1, 2)
__deref_out_range(1, 2)
__deref_inout_range(1, 2)
__range_max(1, 2)
__range_min(1, 2)
__type_has_adt_prop(1, 2)
__out_has_adt_prop(1, 2)
__out_not_has_adt_prop(1, 2)
__deref_in_ecount_iterator(1, 2)
__deref_out_ecount_iterator(1, 2)
__deref_inout_ecount_iterator(1, 2)
__deref_realloc_bcount(1, 2)
extern int nothing_is_left_of_sal_1;

// ---- locks and threads ----
_Benign_race_begin_
_Benign_race_end_
_No_competing_thread_
_No_competing_thread_begin_
_No_competing_thread_end_
_Interlocked_
_Requires_no_locks_held_
_Acquires_lock_(1)
_Acquires_exclusive_lock_(1)
_Acquires_shared_lock_(1)
_Acquires_nonreentrant_lock_(1)
_Releases_lock_(1)
_Releases_exclusive_lock_(1)
_Releases_shared_lock_(1)
_Releases_nonreentrant_lock_(1)
_Requires_lock_held_(1)
_Requires_exclusive_lock_held_(1)
_Requires_shared_lock_held_(1)
_Requires_lock_not_held_(1)
_Create_lock_level_(1)
_Has_lock_kind_(1)
_Has_lock_level_(1)
_Function_ignore_lock_checking_(1)
_Guarded_by_(1)
_Write_guarded_by_(1)
_Analysis_suppress_lock_checking_(1)
_Analysis_assume_lock_acquired_(1)
_Analysis_assume_lock_released_(1)
_Analysis_assume_lock_held_(1)
_Analysis_assume_lock_not_held_(1)
_Lock_level_order_(1, 2)
_Internal_lock_level_order_(1, 2)
_Post_same_lock_(1, 2)
_Analysis_assume_same_lock_(1, 2)
_Csalcat1_(1, 2)
_Csalcat2_(1, 2)
extern int nothing_is_left_of_locks_and_threads;

// ---- drivers ----
_IRQL_is_cancel_
_IRQL_requires_same_
_IRQL_restores_
_IRQL_saves_
_IRQL_uses_cancel_
_IRQL_inout_
_Kernel_float_restored_
_Kernel_float_saved_
_Kernel_float_used_
_Kernel_IoGetDmaAdapter_
__drv_acquiresCancelSpinLock
__drv_acquiresCriticalRegion
__drv_acquiresPriorityRegion
__drv_releasesCancelSpinLock
__drv_releasesCriticalRegion
__drv_releasesPriorityRegion
__drv_mustHoldCancelSpinLock
__drv_mustHoldCriticalRegion
__drv_mustHoldPriorityRegion
__drv_neverHoldCancelSpinLock
__drv_neverHoldCriticalRegion
__drv_neverHoldPriorityRegion
__drv_aliasesMem
__drv_clearDoInit
__drv_constant
__drv_nonConstant
__drv_dispatchType_other
__drv_floatRestored
__drv_floatSaved
__drv_floatUsed
__drv_interlocked
__drv_inTry
__drv_notInTry
__drv_IoGetDmaAdapter
__drv_isCancelIRQL
__drv_isObjectPointer
__drv_notPointer
__drv_KMDF
__drv_NDIS
__drv_WDM
__drv_restoresIRQL
__drv_sameIRQL
__drv_savesIRQL
__drv_useCancelIRQL
__kernel_code
__kernel_driver
__user_code
__user_driver
__internal_kernel_driver
__prefast_operator_new_null
__prefast_operator_new_throws
_Dispatch_type_(1)
_IRQL_always_function_max_(1)
_IRQL_always_function_min_(1)
_IRQL_raises_(1)
_IRQL_lowers_(1)
_IRQL_requires_(1)
_IRQL_requires_max_(1)
_IRQL_requires_min_(1)
_Kernel_clear_do_init_(1)
_Kernel_releases_resource_(1)
_Kernel_acquires_resource_(1)
_Kernel_requires_resource_held_(1)
_Kernel_requires_resource_not_held_(1)
_Landmark_(1)
__drv_acquiresResource(1)
__drv_acquiresExclusiveResource(1)
__drv_releasesResource(1)
__drv_releasesExclusiveResource(1)
__drv_allocatesMem(1)
__drv_freesMem(1)
__drv_callbackType(1)
__drv_completionType(1)
__drv_defined(1)
__drv_deref(1)
__drv_dispatchType(1)
__drv_formatString(1)
__drv_fun(1)
__drv_functionClass(1)
__drv_in(1)
__drv_in_deref(1)
__drv_out(1)
__drv_out_deref(1)
__drv_ret(1)
__drv_maxIRQL(1)
__drv_maxFunctionIRQL(1)
__drv_minIRQL(1)
__drv_minFunctionIRQL(1)
__drv_mustHold(1)
__drv_neverHold(1)
__drv_raisesIRQL(1)
__drv_requiresIRQL(1)
__drv_setsIRQL(1)
__drv_reportError(1)
__drv_strictTypeMatch(1)
__drv_unit(1)
__drv_valueIs(1)
__drv_Mode_impl(1)
_IRQL_restores_global_(1, 2)
_IRQL_saves_global_(1, 2)
__drv_acquiresResourceGlobal(1, 2)
__drv_acquiresExclusiveResourceGlobal(1, 2)
__drv_releasesResourceGlobal(1, 2)
__drv_releasesExclusiveResourceGlobal(1, 2)
__drv_arg(1, 2)
__drv_at(1, 2)
__drv_when(1, 2)
__drv_restoresIRQLGlobal(1, 2)
__drv_savesIRQLGlobal(1, 2)
__drv_mustHoldGlobal(1, 2)
__drv_neverHoldGlobal(1, 2)
__drv_innerAcquiresGlobal(1, 2)
__drv_innerReleasesGlobal(1, 2)
__drv_innerMustHoldGlobal(1, 2)
__drv_innerNeverHoldGlobal(1, 2)
__drv_preferredFunction(1, 2)
__drv_strictType(1, 2)
__drv_holdsCancelSpinLock()
__drv_holdsCriticalRegion()
__drv_holdsPriorityRegion()
extern int nothing_is_left_of_drivers;

#if !defined(__cplusplus)
__in
__out
__bound
__pre
__valid
extern int nothing_is_left_of_what_cpp_lacks;
#endif

// What the C++ library calls variables is left to it.
#if defined(__cplusplus)
#if defined(__in)
#error "__in is a name of the C++ library"
#endif
#if defined(__out)
#error "__out is a name of the C++ library"
#endif
#include <algorithm>
#include <regex>
#include <string>
#endif
